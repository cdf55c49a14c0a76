#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace tessera {

/// A field of configurations of any family, and why it may stand there.
struct IgnoredField {
  std::string_view name, why;
};
/// Fields that may have any value: inference computes the same.
std::span<const IgnoredField> ignored_fields();

/// A field whose other values would change what a model computes or what greedy generation says.
struct NeutralField {
  std::string_view name;
  std::vector<nlohmann::json> values;
  std::string_view why;
};
std::span<const NeutralField> neutral_fields();

}  // namespace tessera
