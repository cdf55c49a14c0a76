#include <stdexcept>
#include <string>

#include "model/inference.hpp"
#include "arithmetic/tables.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

void require(bool holds, const std::string& name, std::int64_t value, const std::string& expected) {
  if (!holds) {
    throw std::invalid_argument("integer model: " + name + " is " + std::to_string(value) + ", expected " + expected);
  }
}

void require_within(const std::string& name, std::int64_t value, std::int64_t low, std::int64_t high) {
  require(low <= value && value <= high, name, value, std::to_string(low) + " to " + std::to_string(high));
}

void require_size(const std::string& name, const SparseVector<std::int16_t>& values, std::size_t size) {
  require(values.size() == size, "length of " + name, static_cast<std::int64_t>(values.size()), std::to_string(size));
}

void check_parameters(const ModelShape& shape, const Parameters& p) {
  const std::size_t vectors = shape.n_layer * shape.n_embd;
  const std::size_t square = vectors * shape.n_embd;
  const std::size_t wide = vectors * shape.n_inner;
  require_size("embedding", p.embedding, shape.n_vocab * shape.n_embd);
  require_size("position", p.position, shape.n_positions * shape.n_embd);
  require_size("gammaf", p.gammaf, shape.n_embd);
  require_size("betaf", p.betaf, shape.n_embd);
  require_size("gamma1", p.gamma1, vectors);
  require_size("beta1", p.beta1, vectors);
  require_size("gamma2", p.gamma2, vectors);
  require_size("beta2", p.beta2, vectors);
  require_size("wq", p.wq, square);
  require_size("wk", p.wk, square);
  require_size("wv", p.wv, square);
  require_size("wo", p.wo, square);
  require_size("w1", p.w1, wide);
  require_size("w2", p.w2, wide);
  require_size("bq", p.bq, vectors);
  require_size("bk", p.bk, vectors);
  require_size("bv", p.bv, vectors);
  require_size("bo", p.bo, vectors);
  require_size("b1", p.b1, shape.n_layer * shape.n_inner);
  require_size("b2", p.b2, vectors);
}

}  // namespace

IntegerModel::IntegerModel(const Model& model)
    : shape(model.shape), exponents(model.exponents), parameters(&model.parameters) {
  check_shape(shape);
  check_exponents(exponents);
  check_parameters(shape, model.parameters);
  constants = IntegerConstants::of(shape, model.layer_norm_epsilon);
  require_within("width of 1/sigma", constants.inverse_bits, 1, 31);
  exp_table = tessera::exp_table(exponents.score, constants.kappa);
  gelu_table = tessera::gelu_table(exponents.mlp, exponents.gelu);
}

}  // namespace tessera
