#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// How a model knows where a token stands: a learned vector is added to its embedding, or queries and keys are turned.
enum class Positions : std::uint8_t { learned, rotary };
/// What all norms over features of a model are.
enum class NormKind : std::uint8_t { layer, rms };
/// Where the branches (attention, MLP) have norms: on what they read, on what they add, or on both.
enum class NormPlace : std::uint8_t { before, after, around };
/// What the MLP's branch reads: the stream behind the attention's; the same x, through a norm of its own; or the very
/// output of the attention's norm.
enum class Branches : std::uint8_t { sequential, parallel, shared_norm };
enum class MlpKind : std::uint8_t { plain, gated };

inline constexpr std::string_view position_names[] = {"learned", "rotary"};
inline constexpr std::string_view norm_names[] = {"layer norm", "RMS norm"};
inline constexpr std::string_view norm_place_names[] = {"before", "after", "around"};
inline constexpr std::string_view branch_names[] = {"sequential", "parallel", "shared norm"};
inline constexpr std::string_view mlp_names[] = {"plain", "gated"};

/// Which layers a model's blocks are made of, the same in all of them.
struct Layers {
  Positions positions = Positions::learned;
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::before;
  Branches branches = Branches::sequential;
  MlpKind mlp = MlpKind::plain;
  bool bias = true;  // of W_O and of the MLP's matrices
  friend bool operator==(const Layers&, const Layers&) = default;
};
/// RMS norms before each branch, rotary positions, a gated MLP, no biases.
inline constexpr Layers rotary_layers{Positions::rotary,    NormKind::rms,  NormPlace::before,
                                      Branches::sequential, MlpKind::gated, false};

/// What a model is: its sizes, and which layers it is made of. Which constants and tables these have stands in its key.
struct ModelShape {
  std::size_t n_layer = 0;      // L
  std::size_t n_embd = 0;       // d
  std::size_t n_head = 0;       // query heads
  std::size_t n_inner = 0;      // MLP width
  std::size_t n_vocab = 0;      // V
  std::size_t n_positions = 0;  // context
  Layers layers = {};
  // with learned positions these have the values that stand here
  std::size_t n_kv_head = 0;  // key/value heads, a divisor of n_head; 0: n_head
  std::size_t head_dim = 0;   // 0: n_embd/n_head
  bool tied = true;           // the logits' matrix is the embedding
  bool qkv_bias = true;
  bool head_norm = false;          // RMS norms on queries and on keys, before they are turned: of every head,
  bool norm_across_heads = false;  // or of all heads of a token at once
  bool head_bias = false;          // on the logits
  /// Different tables of angles, and which one each block turns by: empty, all by the first.
  std::uint32_t rotations = 1;
  std::vector<std::uint32_t> rotation_of_block = {};
  /// The last keys that each block sees, itself among them; 0: all. Empty: all blocks see all.
  std::vector<std::uint32_t> window_of_block = {};
  bool score_cap = false;  // what soft-max takes are c*tanh(score/c), by a table of the key
  bool logit_cap = false;  // the same of logits, which changes no order of them

  [[nodiscard]] bool rotary() const { return layers.positions == Positions::rotary; }
  [[nodiscard]] bool gated() const { return layers.mlp == MlpKind::gated; }
  [[nodiscard]] bool rms() const { return layers.norm == NormKind::rms; }
  [[nodiscard]] bool norm_before() const { return layers.norm_place != NormPlace::after; }
  [[nodiscard]] bool norm_after() const { return layers.norm_place != NormPlace::before; }
  /// Whether the MLP's branch has a norm of its own before it.
  [[nodiscard]] bool second_norm() const { return norm_before() && layers.branches != Branches::shared_norm; }
  /// Whether it reads something of its own.
  [[nodiscard]] bool second_input() const { return layers.branches != Branches::shared_norm; }
  [[nodiscard]] std::size_t kv_heads() const { return n_kv_head == 0 ? n_head : n_kv_head; }
  [[nodiscard]] std::size_t group() const { return n_head / kv_heads(); }  // query heads of one
  [[nodiscard]] std::size_t head_size() const { return head_dim == 0 ? n_embd / n_head : head_dim; }  // m
  [[nodiscard]] std::size_t query_features() const { return n_head * head_size(); }
  [[nodiscard]] std::size_t key_features() const { return kv_heads() * head_size(); }
  [[nodiscard]] std::size_t rotation(std::size_t block) const {
    return rotation_of_block.empty() ? 0 : rotation_of_block[block];
  }
  [[nodiscard]] std::size_t window(std::size_t block) const {
    return window_of_block.empty() ? 0 : window_of_block[block];
  }
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// Widths of a model's integers, in bits, and the scale of its norms' inverse, where for_each_width() visits them; with
/// learned positions they are what stands here.
struct Widths {
  std::uint32_t product_bits = 16;  // w_t, of the gated product t
  std::uint32_t gate_bits = 16;     // w_z, of the gate before its activation, whose table has 2^w_z rows
  std::uint32_t final_bits = 16;    // w_f, of the final norm's output
  std::uint32_t norm_shift = 14;    // xi: I = floor(C*2^xi/sigma) in the norms over features
  std::uint32_t branch_bits = 16;   // w_h, of what a branch makes before the norm behind it
  std::uint32_t stream_bits = 16;   // w_s, of what a branch without a norm before it reads
  friend bool operator==(const Widths&, const Widths&) = default;
};

/// Quantization exponents: real value = integer * 2^-exponent; one per kind of tensor, the same in all blocks.
/// Parameters are int16, gains of norms behind branches two of them. Left sides of an rshift have the exponent sum of
/// their factors.
struct Exponents {
  std::int32_t residual = 12;                                   // the residual stream; GPT-2's, with E and P: 12
  std::int32_t u1 = 0, u2 = 0, uf = 0;                          // norms' outputs: before attention, before MLP, final
  std::int32_t q = 0, k = 0, v = 0;                             // y (attention output) has v's
  std::int32_t score = 0;                                       // what soft-max takes, <= 12
  std::int32_t uncapped = 0;                                    // scores before a cap, where there is one
  std::int32_t mlp = 0, gelu = 0;                               // z and g of the MLP, GPT-2: gelu <= mlp
  std::int32_t wq = 0, wk = 0, wv = 0, wo = 0, w1 = 0, w2 = 0;  // weights (1/sqrt(m) folded into wq, bq)
  std::int32_t bq = 0, bk = 0, bv = 0, bo = 0, b1 = 0, b2 = 0;  // biases
  std::int32_t gamma1 = 0, beta1 = 0, gamma2 = 0, beta2 = 0, gammaf = 0, betaf = 0;  // norms' parameters
  // with rotary positions alone; mlp and gelu of a gated MLP are those of the gate before and after the activation
  std::int32_t embedding = 12;                              // E, >= residual
  std::int32_t hq = 0, hk = 0, gamma_q = 0, gamma_k = 0;    // norms on q and k: inputs, gains
  std::int32_t product = 0;                                 // t = a*U, the gated product
  std::int32_t w_gate = 0, w_up = 0, w_down = 0, head = 0;  // weights
  std::int32_t head_bias = 0;
  std::int32_t ho = 0, hm = 0, gamma_o = 0, gamma_m = 0;  // norms behind W_O and the MLP: inputs, gains
  friend bool operator==(const Exponents&, const Exponents&) = default;

  static constexpr int rotary = 14;      // cos and sin
  static constexpr int head_norm = 24;   // h*I of a norm on q or k: 2^24*sqrt(m)*h/sigma
  static constexpr int norm_after = 30;  // h*I of a norm behind a branch: 2^30*sqrt(d)*h/sigma
  // Shifts S of rshift(A, S) and left shifts b of biases (bias*2^b), all derived:
  [[nodiscard]] int shift_q() const { return wq + u1 - q; }
  [[nodiscard]] int shift_k() const { return wk + u1 - k; }
  [[nodiscard]] int shift_v() const { return wv + u1 - v; }
  [[nodiscard]] int shift_score(bool capped) const { return q + k - (capped ? uncapped : score); }
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
  [[nodiscard]] int shift_ho() const { return wo + v - ho; }
  [[nodiscard]] int shift_hm(bool gated) const { return (gated ? w_down + product : w2 + gelu) - hm; }
  [[nodiscard]] int shift_after(int gamma) const { return norm_after + gamma - residual; }
  [[nodiscard]] int bias_head() const { return uf + head - head_bias; }
  /// (x - mu)*I has exponent 16 + xi whatever that of x is: I = 2^(16+xi)*sqrt(d)/sigma, sigma =
  /// 2^residual*sqrt(d)*std.
  static constexpr int normalized(const Widths& widths) { return 16 + static_cast<int>(widths.norm_shift); }
  static constexpr int shift_norm(int gamma, int u, const Widths& widths = {}) {
    return normalized(widths) + gamma - u;
  }
  static constexpr int bias_norm(int gamma, int beta, const Widths& widths = {}) {
    return normalized(widths) + gamma - beta;
  }
};

/// Powers of two that import moved between adjacent weights, by place (equalised_places()), each block after block:
/// what is divided by 2^power stands first in the place's text, what is multiplied second. They are no part of what a
/// proof says, but let an auditor's import reproduce the parameters.
using Equalisation = std::map<std::string, std::vector<std::int16_t>, std::less<>>;

}  // namespace tessera
