#include <algorithm>

#include "architecture/draft.hpp"

namespace tessera {
namespace {

/// Ids that must be the same before a place for what follows it to be a guess: more count first.
constexpr std::size_t longest_match = 4;
constexpr std::size_t shortest_match = 2;

/// What follows the latest earlier place where the last `match` ids occur; null if there is no such place.
const std::uint32_t* follower(std::span<const std::uint32_t> ids, std::size_t match) {
  const auto last = ids.last(match);
  for (std::size_t end = ids.size() - 1; end >= match; --end) {
    if (std::ranges::equal(ids.subspan(end - match, match), last)) {
      return &ids[end];
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::uint32_t> Draft::next(std::span<const std::uint32_t> ids, std::size_t limit) const {
  std::vector<std::uint32_t> all(ids.begin(), ids.end());
  limit = ids.size() + std::min(limit, length_);
  while (all.size() < limit) {
    const std::uint32_t* found = nullptr;
    for (std::size_t match = std::min(longest_match, all.size() - 1); match >= shortest_match && found == nullptr;
         --match) {
      found = follower(all, match);
    }
    if (found == nullptr) {
      break;
    }
    const std::uint32_t id = *found;
    all.push_back(id);
  }
  return {all.begin() + std::ssize(ids), all.end()};
}

void Draft::learn(std::size_t guesses, std::size_t right) {
  if (guesses > 0) {
    length_ = right == guesses ? std::min(most, 2 * length_) : right + 1;
  }
}

}  // namespace tessera
