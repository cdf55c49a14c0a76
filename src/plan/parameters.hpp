#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "memory/storage.hpp"
#include "plan/shape.hpp"

namespace tessera {

/// Parameters of a model, all blocks stacked, row-major, unpadded. Weights are (block, out, in); layer-norm gains and
/// biases (block, feature), those of the final norm (feature); embedding (vocabulary, feature); position
/// (n_positions, feature). A rank of several keeps the rows of its RowShare; the others read as zero and take no
/// memory.
template <class T>
struct BasicParameters {
  using Tensor = std::conditional_t<std::is_same_v<T, std::int16_t>, SparseVector<T>, std::vector<T>>;
  Tensor embedding, position;
  Tensor gamma1, beta1, gamma2, beta2, gammaf, betaf;
  Tensor wq, wk, wv, wo, w1, w2;
  Tensor bq, bk, bv, bo, b1, b2;
  friend bool operator==(const BasicParameters&, const BasicParameters&) = default;
};

/// The quantized parameters that are committed: 1/sqrt(m) is folded into wq and bq.
using Parameters = BasicParameters<std::int16_t>;
/// The checkpoint's own values: nothing is folded.
using FloatParameters = BasicParameters<float>;

/// Extents of one parameter tensor: blocks is 1 where there is no block dimension, columns 1 where there is no `in`.
struct ParameterExtents {
  std::size_t blocks = 0, rows = 0, columns = 0;
  [[nodiscard]] std::size_t count() const { return blocks * rows * columns; }
};

/// Calls visit(name, extents, tensor) for all 20 tensors of `parameters`, in the order of their declaration.
template <class P, class Visitor>
void for_each_parameter(const ModelShape& shape, P& parameters, Visitor&& visit) {
  const std::size_t blocks = shape.n_layer, d = shape.n_embd, inner = shape.n_inner;
  visit(std::string_view("embedding"), ParameterExtents{1, shape.n_vocab, d}, parameters.embedding);
  visit(std::string_view("position"), ParameterExtents{1, shape.n_positions, d}, parameters.position);
  visit(std::string_view("gamma1"), ParameterExtents{blocks, d, 1}, parameters.gamma1);
  visit(std::string_view("beta1"), ParameterExtents{blocks, d, 1}, parameters.beta1);
  visit(std::string_view("gamma2"), ParameterExtents{blocks, d, 1}, parameters.gamma2);
  visit(std::string_view("beta2"), ParameterExtents{blocks, d, 1}, parameters.beta2);
  visit(std::string_view("gammaf"), ParameterExtents{1, d, 1}, parameters.gammaf);
  visit(std::string_view("betaf"), ParameterExtents{1, d, 1}, parameters.betaf);
  visit(std::string_view("wq"), ParameterExtents{blocks, d, d}, parameters.wq);
  visit(std::string_view("wk"), ParameterExtents{blocks, d, d}, parameters.wk);
  visit(std::string_view("wv"), ParameterExtents{blocks, d, d}, parameters.wv);
  visit(std::string_view("wo"), ParameterExtents{blocks, d, d}, parameters.wo);
  visit(std::string_view("w1"), ParameterExtents{blocks, inner, d}, parameters.w1);
  visit(std::string_view("w2"), ParameterExtents{blocks, d, inner}, parameters.w2);
  visit(std::string_view("bq"), ParameterExtents{blocks, d, 1}, parameters.bq);
  visit(std::string_view("bk"), ParameterExtents{blocks, d, 1}, parameters.bk);
  visit(std::string_view("bv"), ParameterExtents{blocks, d, 1}, parameters.bv);
  visit(std::string_view("bo"), ParameterExtents{blocks, d, 1}, parameters.bo);
  visit(std::string_view("b1"), ParameterExtents{blocks, inner, 1}, parameters.b1);
  visit(std::string_view("b2"), ParameterExtents{blocks, d, 1}, parameters.b2);
}

}  // namespace tessera
