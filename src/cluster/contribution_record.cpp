#include "cluster/contribution_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>

#include "cluster/serialization.hpp"

namespace tessera {
namespace {

/// Digests by scope, each in the order of calls.
std::map<std::string, std::vector<std::uint64_t>> by_scope(const ContributionRecord& record) {
  std::map<std::string, std::vector<std::uint64_t>> result;
  for (std::size_t call = 0; call < record.digests.size(); ++call) {
    result[record.scopes[record.scope_of[call]]].push_back(record.digests[call]);
  }
  return result;
}

}  // namespace

std::uint64_t contribution_digest(std::span<const std::byte> bytes) {
  // multiplications of eight lanes overlap: several times as fast as one after the other
  constexpr std::size_t lanes = 8;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  const auto mix = [](std::uint64_t& state, std::uint64_t word) {
    state = (state ^ word) * odd;
    state ^= state >> 32;
  };
  std::array<std::uint64_t, lanes> states{}, words{};
  std::size_t read = 0;
  for (; read + sizeof(words) <= bytes.size(); read += sizeof(words)) {
    std::memcpy(words.data(), bytes.data() + read, sizeof(words));
    for (std::size_t i = 0; i < lanes; ++i) {
      mix(states[i], words[i]);
    }
  }
  words = {};
  if (read < bytes.size()) {
    std::memcpy(words.data(), bytes.data() + read, bytes.size() - read);
  }
  std::uint64_t digest = bytes.size();
  for (std::size_t i = 0; i < lanes; ++i) {
    mix(states[i], words[i]);
    mix(digest, states[i]);
  }
  return digest;
}

std::optional<Difference> first_difference(const ContributionRecord& earlier, const ContributionRecord& later) {
  const auto before = by_scope(earlier);
  const auto after = by_scope(later);
  const bool whole = earlier.whole && later.whole;
  std::map<std::string, std::size_t> next;
  for (std::size_t call = 0; call < later.digests.size(); ++call) {
    const std::string& scope = later.scopes[later.scope_of[call]];
    const std::size_t place = next[scope]++;
    const auto found = before.find(scope);
    if (found == before.end() || place >= found->second.size() ||
        (!whole && found->second.size() != after.at(scope).size())) {
      continue;
    }
    if (found->second[place] != later.digests[call]) {
      return Difference{call, scope};
    }
  }
  return std::nullopt;
}

std::optional<Parting> compare_turned(const ContributionRecord& earlier, const ContributionRecord& later,
                                      Communicator& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  std::vector<MessageBytes> send(ranks);
  send[(rank + 1) % ranks] = to_bytes(later);
  const std::vector<MessageBytes> received = comm.all_to_all_bytes(send);
  const auto mine = from_bytes<ContributionRecord>(received[(rank + ranks - 1) % ranks]);
  const std::optional<Difference> difference = first_difference(earlier, mine);

  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t call = difference ? difference->call : none;
  const std::vector<std::uint64_t> calls = comm.all_gather(std::span(&call, 1));
  const auto first = std::ranges::min_element(calls);
  if (*first == none) {
    return std::nullopt;
  }
  Parting parting{difference ? difference->scope : "", {}, {}};
  broadcast_object(comm, parting.scope, static_cast<int>(first - calls.begin()));
  const std::int64_t nothing = *first < mine.digests.size() && mine.digests[*first] == contribution_digest({}) ? 1 : 0;
  const std::vector<std::int64_t> silent = comm.all_gather(std::span(&nothing, 1));
  for (std::size_t share = 0; share < ranks; ++share) {
    if (calls[share] == *first) {
      parting.shares.push_back(static_cast<int>(share));
    } else if (silent[share] != 0) {
      parting.silent.push_back(static_cast<int>(share));
    }
  }
  return parting;
}

std::vector<int> common_suspects(const std::vector<int>& shares, int ranks) {
  std::map<int, int> explained;  // shares by rank
  for (const int share : shares) {
    ++explained[share];
    ++explained[(share + ranks - 1) % ranks];
  }
  int most = 0;
  for (const auto& [rank, count] : explained) {
    most = std::max(most, count);
  }
  std::vector<int> suspects;
  for (const auto& [rank, count] : explained) {
    if (count == most) {
      suspects.push_back(rank);
    }
  }
  return suspects;
}

}  // namespace tessera
