#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// The merges that a SentencePiece BPE vocabulary implies, as the tokenizers library derives them: each cut of a piece
/// into two pieces, by falling score of the piece, then falling length in characters of the left part, of the right
/// part. `pieces` are ordinary tokens with their ids, `scores` by id, finite. Takes
/// (length of the longest piece) * (bytes of all). Throws InputError beginning with `what` if two pieces that can be
/// cut have the same score: then nothing says which comes first.
std::vector<Merge> merges_of_scores(const std::unordered_map<std::string_view, std::uint32_t>& pieces,
                                    std::span<const double> scores, const std::string& what);

}  // namespace tessera
