#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// The integer constants of section "integers of the transformer" that depend on the shape only.
struct IntegerConstants {
  std::int64_t epsilon = 1;         // eps' = max(1, round(d*eps*2^24)), added to V
  std::int64_t norm_numerator = 0;  // C*2^14, C = round(sqrt(d)*2^16)
  unsigned kappa = 0;               // ceil(log2 n_positions) + 1
  unsigned residual_bits = 0;       // w_x = min(27, floor((62 - ceil(log2 d))/2) + 1), signed width of x and mu
  unsigned inverse_bits = 0;        // bits of floor(C*2^14/floor(sqrt(eps')))
  static IntegerConstants of(const ModelShape& shape, double layer_norm_epsilon);
  /// The same from the integer eps' of a verifying key.
  static IntegerConstants of(const ModelShape& shape, std::int64_t epsilon);
};

inline constexpr std::int64_t softmax_infinity = (1 << 16) + (1 << 15);  // INF, added to d above the diagonal
inline constexpr unsigned exp_table_log_size = 17;
inline constexpr unsigned gelu_table_log_size = 16;
inline constexpr unsigned softmax_shift = 46;  // R = floor(2^46/D), y = rshift(O*R, 46)

}  // namespace tessera
