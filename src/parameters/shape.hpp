#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// Sizes of a GPT-2-architecture model.
struct ModelShape {
  std::size_t n_layer = 0;                                                 // L
  std::size_t n_embd = 0;                                                  // d
  std::size_t n_head = 0;                                                  // h; d = h*m
  std::size_t n_inner = 0;                                                 // MLP width
  std::size_t n_vocab = 0;                                                 // V
  std::size_t n_positions = 0;                                             // context
  [[nodiscard]] std::size_t head_size() const { return n_embd / n_head; }  // m
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// Quantization exponents: real value = integer * 2^-exponent; one per kind of tensor, the same in all blocks.
/// Parameters are int16. Left sides of an rshift have the exponent sum of their factors.
struct Exponents {
  std::int32_t residual = 12;           // E, P and the residual stream, fixed
  std::int32_t u1 = 0, u2 = 0, uf = 0;  // layer-norm outputs: before attention, before MLP, final
  std::int32_t q = 0, k = 0, v = 0;     // y (attention output) has v's
  std::int32_t score = 0;               // z of soft-max, <= 12
  std::int32_t mlp = 0, gelu = 0;       // z and g of the MLP, gelu <= mlp
  std::int32_t wq = 0, wk = 0, wv = 0, wo = 0, w1 = 0, w2 = 0;  // weights (1/sqrt(m) folded into wq, bq)
  std::int32_t bq = 0, bk = 0, bv = 0, bo = 0, b1 = 0, b2 = 0;  // biases
  std::int32_t gamma1 = 0, beta1 = 0, gamma2 = 0, beta2 = 0, gammaf = 0, betaf = 0;  // layer-norm parameters
  friend bool operator==(const Exponents&, const Exponents&) = default;

  // Shifts S of rshift(A, S) and left shifts b of biases (bias*2^b), all derived:
  [[nodiscard]] int shift_q() const { return wq + u1 - q; }
  [[nodiscard]] int shift_k() const { return wk + u1 - k; }
  [[nodiscard]] int shift_v() const { return wv + u1 - v; }
  [[nodiscard]] int shift_score() const { return q + k - score; }
  [[nodiscard]] int shift_o() const { return wo + v - residual; }
  [[nodiscard]] int shift_1() const { return w1 + u2 - mlp; }
  [[nodiscard]] int shift_2() const { return w2 + gelu - residual; }
  [[nodiscard]] int bias_q() const { return wq + u1 - bq; }
  [[nodiscard]] int bias_k() const { return wk + u1 - bk; }
  [[nodiscard]] int bias_v() const { return wv + u1 - bv; }
  [[nodiscard]] int bias_o() const { return wo + v - bo; }
  [[nodiscard]] int bias_1() const { return w1 + u2 - b1; }
  [[nodiscard]] int bias_2() const { return w2 + gelu - b2; }
  /// (x - mu)*I has exponent 30: 12 + (2^30*sqrt(d)/sigma, sigma = 2^12*sqrt(d)*std).
  static constexpr int normalized = 30;
  [[nodiscard]] int shift_norm(int gamma, int u) const { return normalized + gamma - u; }
  [[nodiscard]] int bias_norm(int gamma, int beta) const { return normalized + gamma - beta; }
};

}  // namespace tessera
