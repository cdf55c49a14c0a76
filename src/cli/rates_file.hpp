#pragma once

#include <filesystem>

#include "cost/rates.hpp"

namespace tessera::cli {

/// The name of this machine in MachineRates.
std::string machine_name();
/// $XDG_CACHE_HOME/tessera/rates.json, or below ~/.cache; empty without any of them.
std::filesystem::path default_rates_path();
/// Without rates if the file is of another version. Throws InputError for a file that is no such one.
MachineRates load_rates(const std::filesystem::path& path);
/// Makes the folder; throws InputError if the file cannot be written.
void save_rates(const std::filesystem::path& path, const MachineRates& rates);
}  // namespace tessera::cli
