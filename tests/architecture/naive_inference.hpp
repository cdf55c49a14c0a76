#pragma once

#include <functional>

#include "architecture/inference.hpp"
#include "plan/trace.hpp"

namespace tessera::test {

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

/// The integer transformer straight from its formulas, one value at a time, into a trace on one rank. Shares no code
/// with the library but the plan's tensors and the key's tables.
Trace naive_inference(const IntegerModel& model, const Statement& statement, const Liar& liar = {});

/// (batch and head, query, key) of score tensors, whose heads have one query head each.
template <class T>
T& score_at(ChunkedTensor<T>& tensor, std::size_t outer, std::size_t query, std::size_t key) {
  const std::vector<Dimension>& d = tensor.shape().dimensions();
  const std::size_t rows = d[3].chunk();
  const std::size_t tile = d[4].chunk();
  const std::size_t chunk = tensor.shape().chunk_at(
      std::array{outer / d[1].length, outer % d[1].length, std::size_t{0}, query / rows, key / tile});
  return tensor.chunk(chunk)[query % rows * tile + key % tile];
}

/// A place in a head of (batch, head and place, token) tensors; `outer` is batch and head.
template <class T>
TokenRow<T> head_row(ChunkedTensor<T>& tensor, std::size_t outer, std::size_t place) {
  return block_row(tensor, 0, (outer << tensor.shape().dimensions()[1].log_chunk) + place);
}

/// The trace of `generate` tokens after the prompt, with a plan of these lengths.
inline Trace infer(const IntegerModel& model, std::span<const std::uint32_t> prompt, std::size_t generate,
                   Communicator& comm) {
  return run_inference(model, ModelPlan::of(model.key, prompt.size(), generate), prompt, comm);
}

}  // namespace tessera::test
