#include <string>
#include "base/errors.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr unsigned max_inverse_bits = 31;  // of I = floor(C*2^14/floor(sqrt(eps')))

void check_range(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    throw InputError(std::string(field) + ": expected " + std::to_string(low) + " to " + std::to_string(high) +
                     ", found " + std::to_string(value));
  }
}

void check_size(std::string_view field, std::size_t value, std::size_t high) {
  if (value < 1 || value > high) {
    throw InputError(std::string(field) + ": expected 1 to " + std::to_string(high) + ", found " +
                     std::to_string(value));
  }
}

}  // namespace

void check_shape(const ModelShape& shape) {
  check_size("n_layer", shape.n_layer, max_layers);
  check_size("n_embd", shape.n_embd, max_embedding);
  check_size("n_head", shape.n_head, max_heads);
  if (shape.n_embd % shape.n_head != 0) {
    throw InputError("n_head: expected a divisor of n_embd = " + std::to_string(shape.n_embd) + ", found " +
                     std::to_string(shape.n_head));
  }
  check_size("n_inner", shape.n_inner, max_inner);
  check_size("n_vocab", shape.n_vocab, max_vocabulary);
  check_size("n_positions", shape.n_positions, max_positions);
}

void check_exponents(const Exponents& e) {
  for_each_exponent(
      e, [](std::string_view name, std::int32_t value) { check_range(name, value, -max_exponent, max_exponent); });
  check_range("residual", e.residual, Exponents{}.residual, Exponents{}.residual);
  check_range("score", e.score, 0, max_score_exponent);
  check_range("mlp", e.mlp, 0, max_mlp_exponent);
  check_range("gelu", e.gelu, 0, e.mlp);
  check_range("shift_q", e.shift_q(), 1, max_matmul_shift);
  check_range("shift_k", e.shift_k(), 1, max_matmul_shift);
  check_range("shift_v", e.shift_v(), 1, max_matmul_shift);
  check_range("shift_score", e.shift_score(), 1, max_matmul_shift);
  check_range("shift_o", e.shift_o(), 1, max_matmul_shift);
  check_range("shift_1", e.shift_1(), 1, max_matmul_shift);
  check_range("shift_2", e.shift_2(), 1, max_matmul_shift);
  check_range("shift_norm of u1", e.shift_norm(e.gamma1, e.u1), 1, max_norm_shift);
  check_range("shift_norm of u2", e.shift_norm(e.gamma2, e.u2), 1, max_norm_shift);
  check_range("shift_norm of uf", e.shift_norm(e.gammaf, e.uf), 1, max_norm_shift);
  check_range("bias_q", e.bias_q(), 0, max_bias_shift);
  check_range("bias_k", e.bias_k(), 0, max_bias_shift);
  check_range("bias_v", e.bias_v(), 0, max_bias_shift);
  check_range("bias_o", e.bias_o(), 0, max_bias_shift);
  check_range("bias_1", e.bias_1(), 0, max_bias_shift);
  check_range("bias_2", e.bias_2(), 0, max_bias_shift);
  check_range("bias_norm of beta1", e.bias_norm(e.gamma1, e.beta1), 0, max_bias_shift);
  check_range("bias_norm of beta2", e.bias_norm(e.gamma2, e.beta2), 0, max_bias_shift);
  check_range("bias_norm of betaf", e.bias_norm(e.gammaf, e.betaf), 0, max_bias_shift);
}

void check_epsilon(const ModelShape& shape, std::int64_t epsilon) {
  check_range("epsilon", epsilon, 1, max_epsilon);
  if (IntegerConstants::of(shape, epsilon).inverse_bits > max_inverse_bits) {
    throw InputError("epsilon: expected more than a quarter of n_embd = " + std::to_string(shape.n_embd) + ", found " +
                     std::to_string(epsilon));
  }
}

}  // namespace tessera
