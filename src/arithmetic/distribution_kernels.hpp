#pragma once

#include <cstddef>
#include <cstdint>

/// \file
/// What choices and distributions over the vocabulary need of logits.

namespace tessera {

/// Logits of some tokens, (rows of the vocabulary, tokens), one row's `stride` values behind the one before it.
struct LogitRows {
  const std::int64_t* values;
  std::size_t rows, tokens, stride;
};

/// Where a token's logits are above `largest` (tokens): the first of the largest ones, and its row in `where` (tokens).
void take_largest(const LogitRows& logits, std::int64_t* largest, std::int64_t* where);

/// sums (tokens) += exp((logit - largest) * scale), row after row, each within two units in the last place.
void add_exponentials(const LogitRows& logits, const std::int64_t* largest, double scale, double* sums);

}  // namespace tessera
