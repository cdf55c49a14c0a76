#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

using Pieces = std::unordered_map<std::string_view, std::uint32_t>;

/// A piece cut into two pieces.
struct Cut {
  Merge merge;
  std::string_view text;
  std::uint32_t piece = 0;
  double score = 0;
  std::size_t left = 0, right = 0;  // characters of the parts
};

/// Whether the cuts number first to last - 1, those of one score among `cuts` by falling score, may have ranks in their
/// order without any text noticing, though the leftmost of them is due first. Takes look-ups off `work`, and says no
/// where they do not suffice.
///
/// All neighbours that become a piece come from the same cut of it, its last one if it stands alone: what is merged
/// inside its characters does not depend on what stands around them. So let u = (a, b) and v = (b, c) be such cuts of
/// pieces of this score. The leftmost first makes u where a, b, c stand in a row, and before it what of this score is
/// missing of a and b. An order does the same if v comes behind u and behind all cuts of this score that u consists of:
/// then no v is made while a u that shares its b is still to come, and merges that share nothing may change places. Nor
/// may a piece of this score be part of one of a higher score, which would be next at once.
bool order_suffices(const std::vector<Cut>& cuts, std::size_t first, std::size_t last, const Pieces& pieces,
                    std::span<const double> scores, std::size_t& work);

}  // namespace tessera
