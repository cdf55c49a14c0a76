#pragma once

#include <string_view>
#include "arithmetic/integer_product.hpp"
#include "plan/shape.hpp"
#include "tensor/shape.hpp"

namespace tessera {

/// What a rank computes and therefore keeps of a model: contiguous ranges of whole chunks, so that inference, layer
/// proofs and commitment need the same rows.
struct RowShare {
  Range features, inner, vocabulary, positions, heads;
  Range qkv_owned;  // features of q, k, v that the rank's tensors keep
  Range qkv;        // those and the ones of its heads: more where heads straddle chunks
  static RowShare of(const ModelShape& shape, int rank, int ranks);

  /// Rows (second index of (block, row, column)) that the rank keeps of a parameter tensor; everything of vectors.
  [[nodiscard]] Range of_parameter(std::string_view name, std::size_t rows) const;
};

/// What `rank` owns of a dimension whose chunks are dealt out in contiguous ranges, without padding.
Range owned_rows(const Dimension& dimension, int rank, int ranks);

}  // namespace tessera
