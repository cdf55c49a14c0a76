#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

enum class Architecture : std::uint8_t { gpt2, llama };

/// The name of an architecture in keys and files: "gpt2", "llama".
std::string_view architecture_name(Architecture architecture);

/// Sizes of a model. What follows the architecture is GPT-2's as it stands here; models of the Llama family set it.
struct ModelShape {
  std::size_t n_layer = 0;      // L
  std::size_t n_embd = 0;       // d
  std::size_t n_head = 0;       // query heads
  std::size_t n_inner = 0;      // MLP width
  std::size_t n_vocab = 0;      // V
  std::size_t n_positions = 0;  // context
  Architecture architecture = Architecture::gpt2;
  std::size_t n_kv_head = 0;  // key/value heads, a divisor of n_head; 0: n_head
  std::size_t head_dim = 0;   // 0: n_embd/n_head
  bool tied = true;           // the logits' matrix is the embedding
  bool qkv_bias = true;
  bool head_norm = false;  // RMS norms on every head's queries and keys

  [[nodiscard]] bool gpt2() const { return architecture == Architecture::gpt2; }
  [[nodiscard]] std::size_t kv_heads() const { return n_kv_head == 0 ? n_head : n_kv_head; }
  [[nodiscard]] std::size_t group() const { return n_head / kv_heads(); }  // query heads of one
  [[nodiscard]] std::size_t head_size() const { return head_dim == 0 ? n_embd / n_head : head_dim; }  // m
  [[nodiscard]] std::size_t query_features() const { return n_head * head_size(); }
  [[nodiscard]] std::size_t key_features() const { return kv_heads() * head_size(); }
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// Widths of a model's integers, in bits, and the scale of its norms' inverse. The Llama family's keys say them; GPT-2
/// has what stands here.
struct Widths {
  std::uint32_t product_bits = 16;  // w_t, of the gated product t
  std::uint32_t gate_bits = 16;     // w_z, of the gate before its activation, whose table has 2^w_z rows
  std::uint32_t final_bits = 16;    // w_f, of the final norm's output
  std::uint32_t norm_shift = 14;    // xi: I = floor(C*2^xi/sigma) in the norms over features
  friend bool operator==(const Widths&, const Widths&) = default;
};

/// Quantization exponents: real value = integer * 2^-exponent; one per kind of tensor, the same in all blocks.
/// Parameters are int16. Left sides of an rshift have the exponent sum of their factors.
struct Exponents {
  std::int32_t residual = 12;                                   // the residual stream; GPT-2's, with E and P: 12
  std::int32_t u1 = 0, u2 = 0, uf = 0;                          // norms' outputs: before attention, before MLP, final
  std::int32_t q = 0, k = 0, v = 0;                             // y (attention output) has v's
  std::int32_t score = 0;                                       // z of soft-max, <= 12
  std::int32_t mlp = 0, gelu = 0;                               // z and g of the MLP, GPT-2: gelu <= mlp
  std::int32_t wq = 0, wk = 0, wv = 0, wo = 0, w1 = 0, w2 = 0;  // weights (1/sqrt(m) folded into wq, bq)
  std::int32_t bq = 0, bk = 0, bv = 0, bo = 0, b1 = 0, b2 = 0;  // biases
  std::int32_t gamma1 = 0, beta1 = 0, gamma2 = 0, beta2 = 0, gammaf = 0, betaf = 0;  // norms' parameters
  // the Llama family alone; its mlp and gelu are those of the gate before and after the activation
  std::int32_t embedding = 12;                              // E, >= residual
  std::int32_t hq = 0, hk = 0, gamma_q = 0, gamma_k = 0;    // norms on q and k: inputs, gains
  std::int32_t product = 0;                                 // t = a*U, the gated product
  std::int32_t w_gate = 0, w_up = 0, w_down = 0, head = 0;  // weights
  friend bool operator==(const Exponents&, const Exponents&) = default;

  static constexpr int rotary = 14;     // cos and sin
  static constexpr int head_norm = 24;  // h*I of a norm on q or k: 2^24*sqrt(m)*h/sigma
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
  [[nodiscard]] int shift_embedding() const { return embedding - residual; }
  [[nodiscard]] int shift_hq() const { return wq + u1 - hq; }
  [[nodiscard]] int shift_hk() const { return wk + u1 - hk; }
  [[nodiscard]] int shift_rotated_q(bool normed) const { return (normed ? head_norm + gamma_q : wq + u1) + rotary - q; }
  [[nodiscard]] int shift_rotated_k(bool normed) const { return (normed ? head_norm + gamma_k : wk + u1) + rotary - k; }
  [[nodiscard]] int shift_gate() const { return w_gate + u2 - mlp; }
  [[nodiscard]] int shift_product() const { return gelu + w_up + u2 - product; }
  [[nodiscard]] int shift_down() const { return w_down + product - residual; }
  /// (x - mu)*I has exponent 16 + xi whatever that of x is: I = 2^(16+xi)*sqrt(d)/sigma, sigma =
  /// 2^residual*sqrt(d)*std.
  static constexpr int normalized(const Widths& widths) { return 16 + static_cast<int>(widths.norm_shift); }
  static constexpr int shift_norm(int gamma, int u, const Widths& widths = {}) {
    return normalized(widths) + gamma - u;
  }
  static constexpr int bias_norm(int gamma, int beta) { return normalized({}) + gamma - beta; }
};

/// Powers of two that import moved between adjacent weights, by place (equalised_places()), each block after block:
/// what is divided by 2^power stands first in the place's text, what is multiplied second. They are no part of what a
/// proof says, but let an auditor's import reproduce the parameters.
using Equalisation = std::map<std::string, std::vector<std::int16_t>, std::less<>>;

}  // namespace tessera
