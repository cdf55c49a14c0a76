#pragma once

#include <cstddef>
#include <cstdint>

/// \file
/// What a distribution over the vocabulary needs of logits: steps for one row of it and some tokens.

namespace tessera {

/// Where a token's logit is above `largest`: the logit, and `row` in `where`.
void take_largest(const std::int64_t* logits, std::int64_t row, std::size_t tokens, std::int64_t* largest,
                  std::int64_t* where);

/// sums += exp((logit - largest) * scale) of each token, within two units in the last place.
void add_exponentials(const std::int64_t* logits, const std::int64_t* largest, double scale, std::size_t tokens,
                      double* sums);

}  // namespace tessera
