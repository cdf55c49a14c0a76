#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Takes fields off a configuration one by one, so that what is left over is unknown. All refusals are InputErrors that
/// name file and field.
class ConfigFields {
 public:
  ConfigFields(nlohmann::json root, std::string file) : root_(std::move(root)), file_(std::move(file)) {}

  /// A size within the limit of that name.
  std::size_t size(const std::string& name, std::string_view limit);
  /// A size within the limit of that name; `absent` where the field is missing or null.
  std::size_t size(const std::string& name, std::string_view limit, std::size_t absent);
  /// A positive integer.
  std::size_t count(const std::string& name);
  /// A number above 0 and below `most`.
  double positive(const std::string& name, double most);
  double positive(const std::string& name, double most, double absent);
  /// A list of numbers above 0 and below `most`.
  std::vector<double> positive_numbers(const std::string& name, double most);
  /// true or false; `absent` where the field is missing or null.
  bool boolean(const std::string& name, bool absent);
  /// Adds a field that is not there.
  void provide(const std::string& name, const nlohmann::json& value) { root_.emplace(name, value); }
  /// The value, one of the accepted ones; absent means the first of them.
  nlohmann::json one_of(const std::string& name, const std::vector<nlohmann::json>& accepted);
  /// The fields of an object, none of which has been taken.
  ConfigFields object(const std::string& name);

  [[nodiscard]] bool has(const std::string& name) const { return root_.contains(name); }
  [[nodiscard]] bool has_value(const std::string& name) const { return has(name) && !root_.at(name).is_null(); }
  [[nodiscard]] const nlohmann::json& at(const std::string& name) const { return root_.at(name); }
  void drop(const std::string& name) { root_.erase(name); }

  /// What is left must be among the fields that leave inference alone, or have a value that does (neutral_fields).
  void refuse_rest(std::span<const std::string_view> ignored = {}) const;
  [[noreturn]] void refuse(const std::string& name, const std::string& expected, const nlohmann::json& found) const;

 private:
  nlohmann::json take(const std::string& name);

  nlohmann::json root_;
  std::string file_;
};

}  // namespace tessera
