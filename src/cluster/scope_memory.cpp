#include "cluster/scope_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tessera {
namespace {

struct Resident {
  std::uint64_t peak = 0;
  std::uint64_t now = 0;
};

/// The number of KiB after `name` as bytes; 0 if it is not there.
std::uint64_t bytes_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) {
    return 0;
  }
  text.remove_prefix(std::min(text.size(), text.find_first_of("0123456789", at)));
  std::uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

/// Not getrusage: its maximum starts with that of the program that started this one.
Resident resident_memory() {
  std::array<char, 4096> buffer;
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return {};
  }
  const ssize_t length = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return {bytes_after(text, "\nVmHWM:"), bytes_after(text, "\nVmRSS:")};
}

/// Sets VmHWM back to VmRSS; false if the kernel does not let us.
bool reset_peak() {
  const int file = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool written = ::write(file, "5", 1) == 1;
  ::close(file);
  return written;
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
