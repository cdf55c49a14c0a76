#include "cli/rates_file.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "files/staged_file.hpp"
#include "base/errors.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view rates_format = "tessera rates";
constexpr int rates_version = 4;

Json to_json(const Rates& rates) {
  Json seconds = Json::object();
  for (std::size_t i = 0; i < phase_count; ++i) {
    seconds[std::string(name_of(static_cast<Phase>(i)))] = rates.seconds[i];
  }
  return {{"ranks", rates.ranks},
          {"nodes", rates.nodes},
          {"threads", rates.threads},
          {"seconds", seconds},
          {"process_bytes", rates.process_bytes}};
}

double amount(const Json& object, const std::string& name) {
  const double value = object.at(name).get<double>();
  if (!std::isfinite(value) || value < 0) {
    throw InputError(name + ": expected a number >= 0");
  }
  return value;
}

int count(const Json& object, const std::string& name) {
  const int value = object.at(name).get<int>();
  if (value < 1) {
    throw InputError(name + ": expected a number >= 1");
  }
  return value;
}

Rates from_json(const Json& object) {
  Rates rates;
  rates.ranks = count(object, "ranks");
  rates.nodes = count(object, "nodes");
  rates.threads = count(object, "threads");
  for (std::size_t i = 0; i < phase_count; ++i) {
    rates.seconds[i] = amount(object.at("seconds"), std::string(name_of(static_cast<Phase>(i))));
  }
  rates.process_bytes = amount(object, "process_bytes");
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
    if (document.at("format") != rates_format) {
      throw InputError("format: expected " + std::string(rates_format));
    }
    MachineRates rates{document.at("machine").get<std::string>(), {}};
    if (document.at("version").get<int>() != rates_version) {
      return rates;  // none that this program knows
    }
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
