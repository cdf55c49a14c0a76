#include "cli/configuration.hpp"

#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/errors.hpp"

namespace tessera::cli {
namespace {

std::string to_option_text(const toml::node& node) {
  if (const auto* const text = node.as_string()) {
    return text->get();
  }
  std::ostringstream stream;
  node.visit([&stream](const auto& value) { stream << value; });
  return stream.str();
}

class TomlConfig final : public CLI::Config {
 public:
  std::string to_config(const CLI::App* /*app*/, bool /*defaults*/, bool /*description*/,
                        std::string /*prefix*/) const override {
    return {};
  }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> found;
    try {
      collect(toml::parse(input), {}, found);
    } catch (const toml::parse_error& error) {
      std::ostringstream message;
      message << "configuration file: line " << error.source().begin.line << ": " << error.description();
      throw InputError(message.str());
    }
    return found;
  }

 private:
  static void collect(const toml::table& table, const std::vector<std::string>& parents,
                      std::vector<CLI::ConfigItem>& found) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (const toml::table* const inner = node.as_table()) {
        std::vector<std::string> path = parents;
        path.push_back(name);
        collect(*inner, path, found);
        continue;
      }
      CLI::ConfigItem item;
      item.parents = parents;
      item.name = name;
      if (const toml::array* const list = node.as_array()) {
        for (const toml::node& entry : *list) {
          item.inputs.push_back(to_option_text(entry));
        }
      } else {
        item.inputs.push_back(to_option_text(node));
      }
      found.push_back(std::move(item));
    }
  }
};

void add_options(const CLI::App& app, nlohmann::json& json) {
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") {
      continue;
    }
    const std::vector<std::string> values = option->results();
    const std::string& name = option->get_lnames().front();
    if (option->get_items_expected_max() == 0) {
      json[name] = option->count() > 0;  // a flag
    } else if (values.size() > 1) {
      json[name] = values;
    } else if (!values.empty()) {
      json[name] = values.front();
    }
  }
  for (const CLI::App* const group : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_options(*group, json);
  }
}

}  // namespace

std::shared_ptr<CLI::Config> toml_config() { return std::make_shared<TomlConfig>(); }

std::string resolved_configuration(const CLI::App& command, int threads) {
  nlohmann::json json;
  json["command"] = command.get_name();
  add_options(command, json);
  json["threads"] = std::to_string(threads);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tessera::cli
