#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>
#include <string>
#include "base/errors.hpp"
#include "field/goldilocks.hpp"
#include "plan/ends.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr Limit table[] = {
    {"n_layer", 1, 256, "with n_head: chunks of a key's tensors"},
    {"n_embd", 1, 1 << 14, "sums of squares stay below 2^62; n_head divides it"},
    {"n_head", 1, 256, "with n_layer: chunks of a key's tensors"},
    {"n_inner", 1, 1 << 16, "products of a matrix are exact in float64: below 2^53"},
    {"n_vocab", 1, max_vocabulary, "size of the key; the vocabulary has as many entries"},
    {"n_positions", 1, max_positions, "R = floor(2^46/D) gets coarse beyond"},
    {"epsilon", 1, max_epsilon, "Var < 2^62 + 2^33; also floor(sqrt(epsilon))*2^31 > C*2^xi"},
    {"n_kv_head", 1, 256, "a divisor of n_head; rotary positions"},
    {"head_dim", 2, 512, "even; n_head*head_dim up to 2^16; rotary positions"},
    {"rotations", 1, 4, "tables of angles; the verifier evaluates each"},
    {"kinds of blocks", 0, 256, "tables and windows, by block; none where all are alike"},
    {"product_bits", 16, 28, "w_t: t is two pieces at most; gated MLP"},
    {"gate_bits", 16, 18, "w_z: rows of the activation's table; gated MLP"},
    {"final_bits", 16, 24, "w_f: u of the final norm is two pieces at most; rotary positions"},
    {"norm_shift", 14, 18, "xi: C*2^xi below 2^41; rotary positions"},
    {"branch_bits", 16, 24, "w_h: two pieces at most, d*h^2 below 2^62; norms behind branches"},
    {"stream_bits", 16, 20, "w_s: two pieces at most; no norms before branches"},
    {"exponent", -64, 64, "each of a model's"},
    {"residual", -8, 16, "epsilon stays within its limits; learned positions: 12"},
    {"score", 0, max_score_exponent, "EXP reaches 0 before the table's edge"},
    {"uncapped", 0, 15, "CAP is tabulated for |z| >= 1 at least; capped scores"},
    {"mlp", 0, 17, "below the width of z: GELU is tabulated for |x| >= 1 at least"},
    {"gelu", 0, 22, "plain MLP: not above mlp; else |ACT| up to 2^21 and 2^(32 - ceil(log2 d)): a*U below 2^62"},
    {"shift", 1, 16, "S of q, k, v, scores, o, W1, W2: remainders are one piece"},
    {"shift of a layer norm", 1, 32, "S of u: remainders are two pieces"},
    {"shift of the final norm", 1, 40, "S of u_f: remainders are three pieces; S + w_f up to 62; rotary positions"},
    {"shift of a product", 1, 32, "S of t and of rotated q, k without norms: remainders are two pieces"},
    {"shift of a normed rotation", 1, 40, "S of normed q, k: remainders are three pieces"},
    {"shift of a norm after", 1, most_shift_after, "S of what a norm behind a branch adds: 2^S*(2^27 + 1) below 2^62"},
    {"shift of the embedding", 0, 16, "0: none; rotary positions"},
    {"rotated left shift", 0, 31, "b of biases of q, k that are rotated and not normed: below 2^61"},
    {"left shift", 0, 46, "b of every bias and beta: |bias*2^b| < 2^61"},
    {"token bytes", 0, 1024, "bytes of one vocabulary entry"},
    {"vocabulary bytes", 0, max_vocabulary_bytes, "bytes of all"},
    {"merges", 0, max_merges, "several may make the same token"},
    {"byte tokens", 0, 256, "all of byte fallback or none"},
    {"added tokens", 0, 1 << 14, "of each of the two lists"},
    {"added token bytes", 1, 128, "finding one takes that many steps a byte"},
    {"prefix tokens", 0, 16, "in front of a prompt"},
    {"end tokens", 2, most_ends, "where the end of text is not the only one"},
    {"chat template bytes", 1, max_chat_template, "where there is one"},
    {"chat token bytes", 0, 128, "of each token that the template is given"},
    {"log_rows", 4, max_log_rows, "a leaf is longer than a node; rows lie within padded chunks"},
    {"log_inverse_rate", 1, 8, "a code has redundancy"},
    {"exceptions", 0, 1 << 16, "16 bytes each in a proof, and places in its account of errors"},
    {"hiding_proofs", 0, 1 << 20, "random columns are part of the commitment"},
    {"log_domain", 0, F::two_adicity, "of every word of the opening: roots of unity"},
    {"pass length", 1, max_pass_length, "a power of two: rows of a score tile"},
    {"inverse temperature", 1 << 8, 1 << 17, "a of sampling: round(4096/temperature)"},
    {"top_k", 1, max_top_k, "candidates of a row of logits; up to the vocabulary"},
    {"top_p", 1, 1 << 16, "p of sampling: 2^16 leaves nothing out"},
    {"cutoff", 0, max_cutoff, "c of sampling: the last row of weights that is not 0"},
    {"candidates", 1, 1 << 19, "top_k*generated tokens: ids in the proof"},
    {"shift of sampling", 1, 48, "S of l: remainders are three pieces"},
    {"bits of sampled logits", 2, 62, "w_l: differences of l stay below 2^63"},
    {"bits of tempered logits", 1, 63, "w_L + ceil(log2 a): |a*L| up to 2^62"},
    {"dense vocabulary", 1, 1 << 19, "V where tokens are sampled from all of it: sums of weights stay below 2^42"},
    {"shift of dense sampling", 1, 45, "S of l: distances below 2^17 times 2^S stay below 2^62"},
    {"bits of dense tempered logits", 1, 62, "w_L + ceil(log2 a): both sides of l's rounding are less than p apart"},
    {"score tiles", 0, 1 << 22, "n_layer*n_head*tiles of queries*tiles of keys: chunks of the scores"},
};

}  // namespace

std::span<const Limit> limits() { return table; }

const Limit& limit_of(std::string_view name) {
  const auto* found = std::ranges::find(table, name, &Limit::name);
  assert(found != std::end(table));
  return *found;
}

void refuse_limit(const Limit& limit, const std::string& found, std::string_view field) {
  throw InputError(std::string(field.empty() ? limit.name : field) + ": expected " + std::to_string(limit.least) +
                   " to " + std::to_string(limit.most) + ", found " + found);
}

bool is_pass_length(std::uint64_t value) { return std::has_single_bit(value) && value <= max_pass_length; }

namespace {

void check_grouped_heads(const ModelShape& shape) {
  if (shape.n_head % shape.n_kv_head != 0) {
    throw InputError("n_kv_head: expected a divisor of n_head = " + std::to_string(shape.n_head) + ", found " +
                     std::to_string(shape.n_kv_head));
  }
  if (shape.head_dim % 2 != 0) {
    throw InputError("head_dim: expected an even number, found " + std::to_string(shape.head_dim));
  }
  if (shape.query_features() > std::size_t{1} << 16) {
    throw InputError("head_dim: expected n_head*head_dim up to 65536, found " + std::to_string(shape.query_features()));
  }
}

/// Shifts of all steps, and u_f*2^S, which stays below 2^62 as well.
void check_steps(const ModelShape& shape, const Exponents& exponents, const Widths& widths) {
  for (const ScaledStep& step : scaled_steps(shape, widths)) {
    if (step.result) {
      check_limit(step.limit, step.shift(exponents), step.name);
    }
    if (step.bias) {
      check_limit(step.bias_limit, step.bias_shift(exponents), step.bias_name);
    }
    const int most = 62 - static_cast<int>(widths.final_bits);
    if (shape.rotary() && step.result == scales::uf && step.shift(exponents) > most) {
      throw InputError(step.name + ": expected at most " + std::to_string(most) + " with final_bits = " +
                       std::to_string(widths.final_bits) + ", found " + std::to_string(step.shift(exponents)));
    }
  }
}

[[noreturn]] void refuse_layers(std::string_view field, std::string_view expected, std::string_view found) {
  throw InputError(std::string(field) + ": expected " + std::string(expected) + ", found " + std::string(found));
}

/// What models with learned positions are, and which layers go together.
void check_layers(const ModelShape& shape) {
  const Layers& layers = shape.layers;
  if (!shape.rotary()) {
    const ModelShape learned;
    if (layers != learned.layers) {
      refuse_layers("layers", "layer norms before sequential branches and a plain MLP, all with biases",
                    "others with learned positions");
    }
    if (shape.kv_heads() != shape.n_head || shape.head_dim != 0 || !shape.tied || !shape.qkv_bias || shape.head_norm ||
        shape.norm_across_heads || shape.head_bias || shape.rotations != 1 || shape.score_cap || shape.logit_cap) {
      refuse_layers("heads", "keys and values of every head, biases, a tied head, no norms on heads and no caps",
                    "others with learned positions");
    }
  }
  if (shape.gated() && layers.bias) {
    refuse_layers("bias", "none beside a gated MLP", "biases");
  }
  if (shape.norm_after() && (!shape.rms() || shape.gated() == false || layers.branches != Branches::sequential)) {
    refuse_layers("norm_place", "norms behind branches only as RMS norms, of sequential branches with a gated MLP",
                  "others");
  }
  if (!shape.norm_before() && shape.qkv_bias) {
    refuse_layers("qkv_bias", "no biases where there is no norm before", "biases");
  }
  if (shape.norm_across_heads && !shape.head_norm) {
    refuse_layers("norm_across_heads", "0 without norms on heads", "1");
  }
  if (shape.head_bias && shape.tied) {
    refuse_layers("head_bias", "0 with a tied head", "1");
  }
}

/// Each block's table is one of them, each is some block's, and they come in the order of the blocks.
void check_rotations(const ModelShape& shape) {
  check_limit("rotations", shape.rotations);
  if (shape.rotations == 1 && shape.rotation_of_block.empty()) {
    return;
  }
  std::uint32_t known = 0;
  bool good = shape.rotations > 1 && shape.rotation_of_block.size() == shape.n_layer;
  for (const std::uint32_t number : shape.rotation_of_block) {
    good = good && number <= known;
    known += number == known ? 1 : 0;
  }
  if (!good || known != shape.rotations) {
    refuse_layers("rotation_of_block", "for each block one of the tables, numbered as blocks use them", "others");
  }
}

/// Some block has one, and none is as long as the context.
void check_block_windows(const ModelShape& shape) {
  const std::vector<std::uint32_t>& windows = shape.window_of_block;
  if (windows.empty()) {
    return;
  }
  const bool good = shape.rotary() && windows.size() == shape.n_layer &&
                    std::ranges::any_of(windows, [](std::uint32_t window) { return window > 0; }) &&
                    std::ranges::all_of(windows, [&](std::uint32_t window) { return window < shape.n_positions; });
  if (!good || kinds_of(windows).size() > max_windows) {
    refuse_layers("window_of_block",
                  "for each block 0 or fewer keys than the context has, of at most " + std::to_string(max_windows) +
                      " kinds, not all 0, with rotary positions",
                  "others");
  }
}

}  // namespace

void check_shape(const ModelShape& shape) {
  for_each_size(shape, [](std::string_view name, std::size_t value) { check_limit(name, value); });
  check_layers(shape);
  check_rotations(shape);
  check_block_windows(shape);
  if (shape.rotary()) {
    check_grouped_heads(shape);
  } else if (shape.n_embd % shape.n_head != 0) {
    throw InputError("n_head: expected a divisor of n_embd = " + std::to_string(shape.n_embd) + ", found " +
                     std::to_string(shape.n_head));
  }
}

void check_widths(const ModelShape& shape, const Widths& widths) {
  Widths others = widths;  // those that the model does not choose
  for_each_width(shape, others, [](std::string_view, std::uint32_t& value) { value = 0; });
  Widths fixed;
  for_each_width(shape, fixed, [](std::string_view, std::uint32_t& value) { value = 0; });
  if (others != fixed) {
    throw InputError("widths: expected the usual ones where the model does not choose them, found others");
  }
  for_each_width(shape, widths, [](std::string_view name, std::uint32_t value) { check_limit(name, value); });
}

namespace {

/// Exponents with limits of their own.
void check_scales(const ModelShape& shape, const Exponents& e, const Widths& widths) {
  check_limit("residual", e[scales::residual]);
  if (const std::int32_t fixed = Exponents{}[scales::residual]; !shape.rotary() && e[scales::residual] != fixed) {
    throw InputError("residual: expected " + std::to_string(fixed) + " with learned positions, found " +
                     std::to_string(e[scales::residual]));
  }
  check_limit("score", e[scales::score]);
  if (shape.score_cap) {
    check_limit("uncapped", e[scales::uncapped]);
  }
  check_limit("mlp", e[scales::mlp]);
  if (std::cmp_greater_equal(e[scales::mlp], widths.gate_bits)) {
    throw InputError("mlp: expected below gate_bits = " + std::to_string(widths.gate_bits) + ", found " +
                     std::to_string(e[scales::mlp]));
  }
  check_limit("gelu", e[scales::gelu]);
  if (!shape.gated() && e[scales::gelu] > e[scales::mlp]) {
    throw InputError("gelu: expected at most mlp = " + std::to_string(e[scales::mlp]) + ", found " +
                     std::to_string(e[scales::gelu]));
  }
}

}  // namespace

void check_exponents(const ModelShape& shape, const Exponents& e, const Widths& widths) {
  for_each_exponent(shape, e, [](std::string_view name, std::int32_t value) { check_limit("exponent", value, name); });
  check_scales(shape, e, widths);
  Exponents completed = e;
  complete(shape, completed);
  if (completed != e) {
    throw InputError("exponents: expected those of what branches read to be complete, found others");
  }
  check_steps(shape, e, widths);
}

void check_epsilon(const ModelShape& shape, std::int64_t epsilon, const Widths& widths) {
  check_limit("epsilon", epsilon);
  if (const std::int64_t least = IntegerConstants::least_epsilon(shape, widths); epsilon < least) {
    throw InputError("epsilon: expected at least " + std::to_string(least) + ", so that I has 31 bits, found " +
                     std::to_string(epsilon));
  }
}

void check_head_epsilon(const ModelShape& shape, HeadNormOf of, std::int64_t epsilon, std::string_view field) {
  check_limit("epsilon", epsilon, field);
  if (head_inverse_bits(shape, of, epsilon) > max_inverse_bits) {
    throw InputError(std::string(field) + ": expected I of at most 31 bits, found " + std::to_string(epsilon));
  }
}

void check_branch_epsilon(const ModelShape& shape, std::int64_t epsilon, std::string_view field) {
  check_limit("epsilon", epsilon, field);
  if (branch_inverse_bits(shape, epsilon) > max_inverse_bits) {
    throw InputError(std::string(field) + ": expected I of at most 31 bits, found " + std::to_string(epsilon));
  }
}

}  // namespace tessera
