#pragma once

#include <functional>

#include "model/inference.hpp"
#include "plan/plan.hpp"

namespace tessera::testing {

/// What has just been computed for all tokens of a block when the liar is asked. Everything later follows from the
/// trace as the liar leaves it, so a lie breaks no identity but its own.
enum class Stage : std::uint8_t {
  x_in,
  mu1,
  sigma1,
  inverse1,
  u1,
  q,
  k,
  v,
  score,
  row_max,
  exponential,
  row_sum,
  row_inverse,
  value_sum,
  y,
  x_mid,
  mu2,
  sigma2,
  inverse2,
  u2,
  mlp,
  gelu,
  x_out,
  x_end,
  muf,
  sigmaf,
  inversef,
  uf,
  logits,
};

using Liar = std::function<void(Stage stage, std::size_t block, Trace& trace)>;

/// The integer transformer straight from its formulas, one value at a time, into a trace on one rank. One tile of
/// scores.
Trace lying_inference(const IntegerModel& model, const Statement& statement, std::uint32_t filler, const Liar& liar);

/// As the liar says at one stage of one block only.
Liar lie_at(Stage stage, std::size_t block, std::function<void(Trace&)> lie);

/// (batch, head, query, key) of score tensors in one tile.
template <class T>
T& score_at(ChunkedTensor<T>& tensor, std::size_t outer, std::size_t query, std::size_t key) {
  const std::size_t tile = tensor.shape().dimensions()[2].chunk();
  return tensor.chunk(outer)[query * tile + key];
}

}  // namespace tessera::testing
