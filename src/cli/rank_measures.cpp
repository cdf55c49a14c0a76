#include "cli/rank_measures.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace tessera::cli {
namespace {

using Name = std::array<char, 65>;

/// The model of the first core, as the kernel knows it; padded with NUL, empty if it says none.
Name processor_name() {
  Name name{};
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      line.copy(name.data(), name.size() - 1, colon + 2);
      break;
    }
  }
  return name;
}

}  // namespace

std::vector<RankInfo> measures_of_ranks(const std::vector<ScopeTiming>& timings, const ScopeMemory& memory,
                                        Communicator& comm) {
  std::vector<double> seconds;
  std::vector<std::uint64_t> peaks;
  for (const ScopeTiming& timing : timings) {
    seconds.push_back(timing.seconds);
    peaks.push_back(memory.peak(timing.scope));
  }
  const Name name = processor_name();
  const std::vector<Name> names = comm.all_gather(std::span(&name, 1));
  const std::vector<double> all_seconds = comm.all_gather(std::span<const double>(seconds));
  const std::vector<std::uint64_t> all_peaks = comm.all_gather(std::span<const std::uint64_t>(peaks));
  std::vector<RankInfo> ranks;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const auto row = [&](const auto& values) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(rank * timings.size());
      return std::vector(begin, begin + std::ssize(timings));
    };
    ranks.push_back({names[rank].data(), row(all_seconds), row(all_peaks)});
  }
  return ranks;
}

std::string host_name() {
  Name name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> hosts_of(Communicator& comm) {
  Name name{};
  host_name().copy(name.data(), name.size() - 1);
  std::vector<std::string> hosts;
  for (const Name& other : comm.all_gather(std::span<const Name>(&name, 1))) {
    hosts.emplace_back(other.data());
  }
  return hosts;
}

}  // namespace tessera::cli
