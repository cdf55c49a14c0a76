#include "cluster/scope_memory.hpp"

#include <algorithm>
#include <fstream>

namespace tessera {
namespace {

struct Resident {
  std::uint64_t peak = 0;
  std::uint64_t now = 0;
};

/// Not getrusage: its maximum starts with that of the program that started this one.
Resident resident_memory() {
  constexpr std::uint64_t kibibyte = 1024;
  Resident resident;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      resident.peak = std::stoull(line.substr(6)) * kibibyte;
    } else if (line.starts_with("VmRSS:")) {
      resident.now = std::stoull(line.substr(6)) * kibibyte;
    }
  }
  return resident;
}

/// Sets VmHWM back to VmRSS; false if the kernel does not let us.
bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  return bool(file << "5" << std::flush);
}

}  // namespace

ScopeMemory::ScopeMemory() : process_peak_(resident_memory().peak), resets_(reset_peak()) {}

std::uint64_t ScopeMemory::take_mark() {
  const Resident resident = resident_memory();
  process_peak_ = std::max(process_peak_, resident.peak);
  if (!open_.empty()) {
    open_.back().peak = std::max(open_.back().peak, resets_ ? resident.peak : resident.now);
  }
  resets_ = resets_ && reset_peak();
  return resident.now;
}

void ScopeMemory::begin(std::string_view path) { open_.push_back({std::string(path), take_mark()}); }

void ScopeMemory::end() {
  take_mark();
  const Open ended = std::move(open_.back());
  open_.pop_back();
  peaks_[ended.path] = std::max(peaks_[ended.path], ended.peak);
  if (!open_.empty()) {
    open_.back().peak = std::max(open_.back().peak, ended.peak);
  }
}

void ScopeMemory::reduce(Communicator& comm) {
  std::vector<std::int64_t> values{resets_ ? 0 : 1, static_cast<std::int64_t>(process_peak_)};
  for (const auto& [path, peak] : peaks_) {
    values.push_back(static_cast<std::int64_t>(peak));
  }
  comm.all_reduce_max(std::span(values));
  resets_ = values[0] == 0;
  process_peak_ = static_cast<std::uint64_t>(values[1]);
  auto next = values.begin() + 2;
  for (auto& [path, peak] : peaks_) {
    peak = static_cast<std::uint64_t>(*next++);
  }
}

std::uint64_t ScopeMemory::peak(const std::string& path) const {
  const auto found = peaks_.find(path);
  return found == peaks_.end() ? 0 : found->second;
}

std::string ScopeMemory::measure() const { return resets_ ? "high-water mark" : "samples where scopes begin and end"; }

}  // namespace tessera
