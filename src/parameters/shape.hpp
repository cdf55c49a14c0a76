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

/// Powers of two that import moved between adjacent weights, by place (equalised_places()), each block after block:
/// what is divided by 2^power stands first in the place's text, what is multiplied second. They are no part of what a
/// proof says, but let an auditor's import reproduce the parameters.
using Equalisation = std::map<std::string, std::vector<std::int16_t>, std::less<>>;

}  // namespace tessera
