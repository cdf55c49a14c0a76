#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <tessera/model/shape.hpp>
#include <tessera/memory/storage.hpp>
#include <vector>

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

/// Calls visit(name, exponent) for all exponents, in the order of their declaration.
template <class X, class Visitor>
void for_each_exponent(X& exponents, Visitor&& visit) {
  visit(std::string_view("residual"), exponents.residual);
  visit(std::string_view("u1"), exponents.u1);
  visit(std::string_view("u2"), exponents.u2);
  visit(std::string_view("uf"), exponents.uf);
  visit(std::string_view("q"), exponents.q);
  visit(std::string_view("k"), exponents.k);
  visit(std::string_view("v"), exponents.v);
  visit(std::string_view("score"), exponents.score);
  visit(std::string_view("mlp"), exponents.mlp);
  visit(std::string_view("gelu"), exponents.gelu);
  visit(std::string_view("wq"), exponents.wq);
  visit(std::string_view("wk"), exponents.wk);
  visit(std::string_view("wv"), exponents.wv);
  visit(std::string_view("wo"), exponents.wo);
  visit(std::string_view("w1"), exponents.w1);
  visit(std::string_view("w2"), exponents.w2);
  visit(std::string_view("bq"), exponents.bq);
  visit(std::string_view("bk"), exponents.bk);
  visit(std::string_view("bv"), exponents.bv);
  visit(std::string_view("bo"), exponents.bo);
  visit(std::string_view("b1"), exponents.b1);
  visit(std::string_view("b2"), exponents.b2);
  visit(std::string_view("gamma1"), exponents.gamma1);
  visit(std::string_view("beta1"), exponents.beta1);
  visit(std::string_view("gamma2"), exponents.gamma2);
  visit(std::string_view("beta2"), exponents.beta2);
  visit(std::string_view("gammaf"), exponents.gammaf);
  visit(std::string_view("betaf"), exponents.betaf);
}

/// Calibration record: largest absolute value seen of each kind of tensor, and the margin used. No maxima if the
/// exponents were given.
struct Calibration {
  std::map<std::string, double> maxima;
  double margin = 2.0;
};

/// Byte strings of the tokenizer: everything needed to encode and decode text.
struct TokenizerData {
  std::vector<std::string> vocabulary;  // id -> bytes (special tokens: their text)
  std::vector<std::string> merges;      // lines of merges.txt without the version line
  std::uint32_t end_of_text = 0;        // id of <|endoftext|>
};

/// A checkpoint as it was trained.
struct FloatModel {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  FloatParameters parameters;
};

/// An imported, quantized model: what the model file holds.
struct Model {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  Exponents exponents;
  Calibration calibration;
  Parameters parameters;
  TokenizerData tokenizer;
};

}  // namespace tessera
