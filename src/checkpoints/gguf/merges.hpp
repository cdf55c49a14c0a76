#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

struct ScoredMerges {
  std::vector<Merge> merges;
  std::vector<std::uint32_t> tied;  // as TokenizerData has it
};

/// The merges that a SentencePiece BPE vocabulary implies: of two neighbours whose concatenation is a piece, those of
/// the piece of the highest score, the leftmost of these, become that piece. Each cut of a piece into two pieces is a
/// merge, in the order in which the tokenizers library derives them: by falling score of the piece, then falling length
/// in characters of the left part, of the right part. That says enough where pieces have scores of their own, and where
/// order_suffices(); merges of other pieces with one score are tied. `pieces` are ordinary tokens with their ids,
/// `scores` by id, finite. A piece with a character that is no piece is none of two pieces, and so never made. Takes
/// (length of the longest piece) * (bytes of all).
ScoredMerges merges_of_scores(const std::unordered_map<std::string_view, std::uint32_t>& pieces,
                              std::span<const double> scores);

}  // namespace tessera
