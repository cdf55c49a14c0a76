#pragma once

#include "words/oracle.hpp"
#include "parameters/table.hpp"
#include "transcript/hiding_verifier.hpp"

/// \file
/// Hiding mode: what oracles have beside the values that they commit to (src/spec/hiding.md).

namespace tessera {

struct VerifyingKey;

/// Elements of F that follow the rows of a column in its leaf.
inline constexpr std::size_t salt_elements = 2;

/// Random columns of a hiding parameter oracle: as many as `proofs` proofs open.
std::size_t parameter_tail_columns(std::uint64_t proofs);
/// `columns` columns of 2^log_rows cells or a few more, all neighbours: at most 2^10 chunks of equal size.
Shape columns_shape(std::size_t columns, unsigned log_rows);
/// The oracle of a key's parameters: with its random columns, if the key is hiding.
OracleLayout parameter_layout(const VerifyingKey& key, const Division& division = {});

/// Elements of E that mask the rounds over row variables: one, and two for each of them.
constexpr std::size_t hiding_row_masks(unsigned row_variables) { return 1 + 2 * std::size_t{row_variables}; }

/// What a hiding proof commits to beside a plain one's tensors.
struct HidingPlan {
  PadLayout pads;                // of everything that is sent before the opening
  unsigned log_products = 0;     // 2^log_products products of pads, the last pair's followed by the dummy
  unsigned row_variables = 0;    // K of the opening
  std::size_t first_tensor = 0;  // in the witness oracle; then in this order:
  enum Tensor : std::size_t { pad, left, right, product, mask, tail, count };
  std::vector<Shape> shapes;  // by Tensor

  [[nodiscard]] std::size_t tensor(Tensor which) const { return first_tensor + which; }
  [[nodiscard]] std::size_t row_masks() const { return hiding_row_masks(row_variables); }
};

}  // namespace tessera
