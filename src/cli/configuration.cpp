#include "cli/configuration.hpp"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/usage_error.hpp"

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
  explicit TomlConfig(CLI::App& program) : program_(program) {}

  std::string to_config(const CLI::App* /*app*/, bool /*defaults*/, bool /*description*/,
                        std::string /*prefix*/) const override {
    return {};
  }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> found;
    try {
      collect(toml::parse(input), nullptr, found);
    } catch (const toml::parse_error& error) {
      refuse(error.source(), std::string(error.description()));
    }
    return found;
  }

 private:
  [[noreturn]] void refuse(const toml::source_region& where, const std::string& why) const {
    throw InputError(one_line(program_.get_config_ptr()->as<std::string>()) + ": line " +
                     std::to_string(where.begin.line) + ": " + why);
  }

  /// The command that a table is of.
  [[nodiscard]] const CLI::App& command(const std::string& name, const toml::node& table) const {
    std::vector<std::string> names;
    for (const CLI::App* const app : program_.get_subcommands([](const CLI::App*) { return true; })) {
      if (app->get_name() == name) {
        return *app;
      }
      names.push_back(app->get_name());
    }
    refuse(table.source(),
           "[" + printable(name) + "]: expected a command, found none of that name" + nearest(name, names));
  }

  void collect(const toml::table& table, const CLI::App* command_of, std::vector<CLI::ConfigItem>& found) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (const toml::table* const inner = node.as_table()) {
        if (command_of != nullptr) {
          refuse(node.source(), command_of->get_name() + "." + printable(name) + ": expected a value, found a table");
        }
        collect(*inner, &command(name, node), found);
        continue;
      }
      require_option(name, command_of == nullptr ? program_ : *command_of, node);
      CLI::ConfigItem item;
      if (command_of != nullptr) {
        item.parents.push_back(command_of->get_name());
      }
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

  void require_option(const std::string& name, const CLI::App& command_of, const toml::node& node) const {
    std::vector<std::string> names = option_names(command_of);
    for (std::string& option : names) {
      option.erase(0, 2);  // --
      if (option == name) {
        return;
      }
    }
    refuse(node.source(), printable(name) + ": expected an option of " + command_of.get_name() +
                              ", found none of that name" + nearest(name, names));
  }

  CLI::App& program_;
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

std::shared_ptr<CLI::Config> toml_config(CLI::App& program) { return std::make_shared<TomlConfig>(program); }

std::string resolved_configuration(const CLI::App& command, int threads) {
  nlohmann::json json;
  json["command"] = command.get_name();
  add_options(command, json);
  json["threads"] = std::to_string(threads);
  for (const char* const name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {  // what waiting threads do
    if (const char* const value = std::getenv(name)) {
      json[name] = value;
    }
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tessera::cli
