#pragma once

#include <cstdint>
#include <vector>

#include "checkpoints/trained_model.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {

using TokenSequence = std::vector<std::uint32_t>;

/// Tokens that stand for something else than text: the end of a text, added tokens, what stands in front of a prompt;
/// ascending, at most 64, spread evenly.
TokenSequence special_tokens(const TokenizerData& tokenizer);

/// Prompts that no text looks like, of 1 to n_positions tokens: special tokens alone, repeated, before text; repeated
/// and random tokens from a fixed generator; bytes in their order and runs of a byte; scripts, code and symbols; with
/// the tokens that stand in front of a prompt and without them; and tokens alone, spread over the vocabulary: all of a
/// small one, fewer the larger the model is. The largest activations of a trained model are often such prompts' own.
/// Depends on shape and tokenizer only.
std::vector<TokenSequence> calibration_battery(const ModelShape& shape, const TokenizerData& tokenizer);

}  // namespace tessera
