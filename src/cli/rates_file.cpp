#include "cli/rates_file.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "archive/staged_file.hpp"
#include "base/errors.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view rates_format = "tessera rates";
constexpr int rates_version = 3;

Json to_json(const Rates& rates) {
  Json seconds = Json::object();
  for (std::size_t kind = 0; kind < work_kinds; ++kind) {
    seconds[std::string(name_of(static_cast<Work>(kind)))] = rates.seconds[kind];
  }
  return {{"ranks_on_node", rates.ranks_on_node},
          {"threads", rates.threads},
          {"seconds", seconds},
          {"call_seconds", rates.call_seconds},
          {"byte_seconds", rates.byte_seconds},
          {"shown_byte_seconds", rates.shown_byte_seconds},
          {"process_bytes", rates.process_bytes}};
}

double amount(const Json& object, const std::string& name) {
  const double value = object.at(name).get<double>();
  if (!std::isfinite(value) || value < 0) {
    throw InputError(name + ": expected a number >= 0");
  }
  return value;
}

Rates from_json(const Json& object) {
  Rates rates;
  rates.ranks_on_node = object.at("ranks_on_node").get<int>();
  rates.threads = object.at("threads").get<int>();
  for (std::size_t kind = 0; kind < work_kinds; ++kind) {
    rates.seconds[kind] = amount(object.at("seconds"), std::string(name_of(static_cast<Work>(kind))));
  }
  rates.call_seconds = amount(object, "call_seconds");
  rates.byte_seconds = amount(object, "byte_seconds");
  rates.shown_byte_seconds = amount(object, "shown_byte_seconds");
  rates.process_bytes = amount(object, "process_bytes");
  if (rates.ranks_on_node < 1 || rates.threads < 1) {
    throw InputError("ranks_on_node, threads: expected numbers >= 1");
  }
  return rates;
}

}  // namespace

std::string machine_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      model = line.substr(std::min(line.size(), line.find(':') + 2));
      break;
    }
  }
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

fs::path default_rates_path() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "tessera" / "rates.json";
  }
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? fs::path() : fs::path(home) / ".cache" / "tessera" / "rates.json";
}

MachineRates load_rates(const fs::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": expected a file of rates, found none: tessera plan --measure writes one");
  }
  try {
    const Json document = Json::parse(file);
    if (document.at("format") != rates_format || document.at("version") != rates_version) {
      throw InputError("format, version: expected " + std::string(rates_format) + ", " + std::to_string(rates_version));
    }
    MachineRates rates{document.at("machine").get<std::string>(), {}};
    for (const Json& entry : document.at("rates")) {
      rates.list.push_back(from_json(entry));
    }
    return rates;
  } catch (const std::exception& error) {
    throw InputError(path.string() + ": expected a file of rates: " + error.what());
  }
}

void save_rates(const fs::path& path, const MachineRates& rates) {
  Json list = Json::array();
  for (const Rates& entry : rates.list) {
    list.push_back(to_json(entry));
  }
  const Json document{
      {"format", rates_format}, {"version", rates_version}, {"machine", rates.machine}, {"rates", list}};
  std::error_code ignored;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), ignored);
  }
  StagedFile file(path);
  const std::string text = document.dump(1) + "\n";
  if (::write(file.descriptor(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw JobError(path.string() + ": cannot be written");
  }
  file.put_in_place(text.size());
}

}  // namespace tessera::cli
