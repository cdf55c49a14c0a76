#include <algorithm>
#include <cassert>
#include <iterator>
#include <string>
#include "base/errors.hpp"
#include "field/goldilocks.hpp"
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
    {"epsilon", 1, max_epsilon, "Var < 2^62 + 2^33; also floor(sqrt(epsilon))*2^31 > C*2^14"},
    {"exponent", -64, 64, "each of the 28"},
    {"residual", Exponents{}.residual, Exponents{}.residual, "fixed"},
    {"score", 0, max_score_exponent, "EXP reaches 0 before the table's edge"},
    {"mlp", 0, max_mlp_exponent, "GELU is tabulated for |x| >= 1 at least"},
    {"gelu", 0, max_mlp_exponent, "not above mlp"},
    {"shift", 1, 16, "S of q, k, v, scores, o, W1, W2: remainders are one piece"},
    {"shift of a layer norm", 1, 32, "S of u: remainders are two pieces"},
    {"left shift", 0, 46, "b of every bias and beta: |bias*2^b| < 2^61"},
    {"token bytes", 0, 1024, "bytes of one vocabulary entry"},
    {"vocabulary bytes", 0, max_vocabulary_bytes, "bytes of all"},
    {"merges", 0, max_merges, "several may make the same token"},
    {"log_rows", 4, max_log_rows, "a leaf is longer than a node; rows lie within padded chunks"},
    {"log_inverse_rate", 1, 8, "a code has redundancy"},
    {"log_domain", 0, F::two_adicity, "of every word of the opening: roots of unity"},
    {"score tiles", 0, 1 << 22, "n_layer*n_head*ceil(rows/64)*ceil(keys/64): chunks of the scores"},
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

void check_shape(const ModelShape& shape) {
  for_each_size(shape, [](std::string_view name, std::size_t value) { check_limit(name, value); });
  if (shape.n_embd % shape.n_head != 0) {
    throw InputError("n_head: expected a divisor of n_embd = " + std::to_string(shape.n_embd) + ", found " +
                     std::to_string(shape.n_head));
  }
}

void check_exponents(const Exponents& e) {
  for_each_exponent(e, [](std::string_view name, std::int32_t value) { check_limit("exponent", value, name); });
  check_limit("residual", e.residual);
  check_limit("score", e.score);
  check_limit("mlp", e.mlp);
  check_limit("gelu", e.gelu);
  if (e.gelu > e.mlp) {
    throw InputError("gelu: expected at most mlp = " + std::to_string(e.mlp) + ", found " + std::to_string(e.gelu));
  }
  check_limit("shift", e.shift_q(), "shift_q");
  check_limit("shift", e.shift_k(), "shift_k");
  check_limit("shift", e.shift_v(), "shift_v");
  check_limit("shift", e.shift_score(), "shift_score");
  check_limit("shift", e.shift_o(), "shift_o");
  check_limit("shift", e.shift_1(), "shift_1");
  check_limit("shift", e.shift_2(), "shift_2");
  check_limit("shift of a layer norm", e.shift_norm(e.gamma1, e.u1), "shift_norm of u1");
  check_limit("shift of a layer norm", e.shift_norm(e.gamma2, e.u2), "shift_norm of u2");
  check_limit("shift of a layer norm", e.shift_norm(e.gammaf, e.uf), "shift_norm of uf");
  check_limit("left shift", e.bias_q(), "bias_q");
  check_limit("left shift", e.bias_k(), "bias_k");
  check_limit("left shift", e.bias_v(), "bias_v");
  check_limit("left shift", e.bias_o(), "bias_o");
  check_limit("left shift", e.bias_1(), "bias_1");
  check_limit("left shift", e.bias_2(), "bias_2");
  check_limit("left shift", e.bias_norm(e.gamma1, e.beta1), "bias_norm of beta1");
  check_limit("left shift", e.bias_norm(e.gamma2, e.beta2), "bias_norm of beta2");
  check_limit("left shift", e.bias_norm(e.gammaf, e.betaf), "bias_norm of betaf");
}

void check_epsilon(const ModelShape& shape, std::int64_t epsilon) {
  check_limit("epsilon", epsilon);
  if (IntegerConstants::of(shape, epsilon).inverse_bits > max_inverse_bits) {
    throw InputError("epsilon: expected more than a quarter of n_embd = " + std::to_string(shape.n_embd) + ", found " +
                     std::to_string(epsilon));
  }
}

}  // namespace tessera
