#include <stdexcept>
#include <string>

#include <tessera/model/inference.hpp>
#include <tessera/model/tables.hpp>

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

void require_size(const std::string& name, const std::vector<std::int16_t>& values, std::size_t size) {
  require(values.size() == size, "length of " + name, static_cast<std::int64_t>(values.size()), std::to_string(size));
}

void check_shape(const ModelShape& shape) {
  const auto positive = [](const char* name, std::size_t value) {
    require_within(name, static_cast<std::int64_t>(value), 1, std::int64_t{1} << 32);
  };
  positive("n_layer", shape.n_layer);
  positive("n_embd", shape.n_embd);
  positive("n_head", shape.n_head);
  positive("n_inner", shape.n_inner);
  positive("n_vocab", shape.n_vocab);
  require_within("n_positions", static_cast<std::int64_t>(shape.n_positions), 1, 4096);
  require(shape.n_embd % shape.n_head == 0, "n_embd", static_cast<std::int64_t>(shape.n_embd), "a multiple of n_head");
  // partial sums of int16 products stay below 2^53 in float64
  require_within("n_embd", static_cast<std::int64_t>(shape.n_embd), 1, 1 << 22);
  require_within("n_inner", static_cast<std::int64_t>(shape.n_inner), 1, 1 << 22);
}

void check_shifts(const Exponents& e) {
  const auto product = [](const char* name, int shift, int bias) {
    require_within(std::string("shift of ") + name, shift, 1, 16);
    require_within(std::string("bias shift of ") + name, bias, 0, 32);
  };
  product("q", e.shift_q(), e.bias_q());
  product("k", e.shift_k(), e.bias_k());
  product("v", e.shift_v(), e.bias_v());
  product("attention output", e.shift_o(), e.bias_o());
  product("MLP input", e.shift_1(), e.bias_1());
  product("MLP output", e.shift_2(), e.bias_2());
  require_within("shift of scores", e.shift_score(), 1, 16);
  const auto norm = [](const char* name, int shift, int bias) {
    require_within(std::string("shift of ") + name, shift, 1, 32);
    require_within(std::string("bias shift of ") + name, bias, 0, 45);
  };
  norm("layer norm 1", e.shift_norm(e.gamma1, e.u1), e.bias_norm(e.gamma1, e.beta1));
  norm("layer norm 2", e.shift_norm(e.gamma2, e.u2), e.bias_norm(e.gamma2, e.beta2));
  norm("final layer norm", e.shift_norm(e.gammaf, e.uf), e.bias_norm(e.gammaf, e.betaf));
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
  check_shifts(exponents);
  check_parameters(shape, model.parameters);
  constants = IntegerConstants::of(shape, model.layer_norm_epsilon);
  require_within("width of 1/sigma", constants.inverse_bits, 1, 31);
  exp_table = tessera::exp_table(exponents.score, constants.kappa);
  gelu_table = tessera::gelu_table(exponents.mlp, exponents.gelu);
}

}  // namespace tessera
