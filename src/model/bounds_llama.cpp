#include "model/bounds.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr double int16_limit = BoundList::int16_limit;
// |a*cos - b*sin| for |a|, |b| <= 1 at the exponent of cos and sin: each at most 2^14
constexpr double rotation = 0x1p15;

double pow2(int exponent) { return BoundList::pow2(exponent); }

/// Queries or keys: what is rotated is the product's accumulator, or what a norm makes of its rshift.
struct Rotated {
  std::string name;
  ParameterId weight, bias, gamma;
  int bias_shift, shift_norm_input, shift;
  std::int64_t epsilon;
};

void add_rotated(BoundList& bounds, const ModelShape& shape, const Rotated& r) {
  const double bias = shape.qkv_bias ? bounds.maximum(r.bias) * pow2(r.bias_shift) : 0;
  double rotated = bounds.product(r.name, shape.n_embd, int16_limit, r.weight, bias);
  if (shape.head_norm) {
    const std::string norm = r.name + " norm";
    bounds.shift(norm + " input", rotated, r.shift_norm_input, int16_limit);
    const auto epsilon = static_cast<double>(r.epsilon);
    const unsigned inverse_bits = head_inverse_bits(shape, r.epsilon);
    bounds.add(norm + " epsilon", epsilon, static_cast<double>(max_epsilon));
    bounds.add(norm + " variance V", static_cast<double>(shape.head_size()) * 0x1p30 + epsilon, BoundList::side_limit);
    bounds.add(norm + " inverse bits", inverse_bits, max_inverse_bits);
    bounds.add(norm + " I*sigma + remainder",
               pow2(static_cast<int>(inverse_bits + BoundList::sigma_bits)) + pow2(BoundList::sigma_bits),
               BoundList::side_limit);
    // |h| <= sigma
    rotated = static_cast<double>(head_norm_numerator(shape)) * bounds.maximum(r.gamma);
  }
  bounds.shift(r.name + " rotated", rotated * rotation, r.shift, int16_limit);
}

}  // namespace

std::vector<Bound> llama_bounds(const ModelShape& shape, const IntegerConstants& constants, const LlamaConstants& llama,
                                const Exponents& x, const ParameterMaxima& maxima) {
  BoundList bounds(shape, constants, x, maxima);
  const std::size_t d = shape.n_embd;
  const double residual = bounds.residual();
  bounds.context();
  const int embedded = x.shift_embedding();
  if (embedded > 0) {
    bounds.shift("embedding", bounds.maximum(embedding), embedded, residual);
  }
  bounds.add("embedding", bounds.maximum(embedding) * pow2(-embedded) + 1, residual - 1);
  bounds.norms("RMS norm", 0);
  const Widths& widths = llama.widths;
  const auto norm = [&](const std::string& name, ParameterId gamma, int a_gamma, int u, unsigned bits) {
    // |x| <= sigma
    bounds.shift(name, static_cast<double>(constants.norm_numerator) * bounds.maximum(gamma),
                 Exponents::shift_norm(a_gamma, u, widths), pow2(static_cast<int>(bits) - 1));
  };
  norm("u1", gamma1, x.gamma1, x.u1, 16);
  norm("u2", gamma2, x.gamma2, x.u2, 16);
  norm("uf", gammaf, x.gammaf, x.uf, widths.final_bits);
  const bool normed = shape.head_norm;
  add_rotated(bounds, shape,
              {"q", wq, bq, gamma_q, x.bias_q(), x.shift_hq(), x.shift_rotated_q(normed), llama.epsilon_q});
  add_rotated(bounds, shape,
              {"k", wk, bk, gamma_k, x.bias_k(), x.shift_hk(), x.shift_rotated_k(normed), llama.epsilon_k});
  const double value_bias = shape.qkv_bias ? bounds.maximum(bv) * pow2(x.bias_v()) : 0;
  bounds.shift("v", bounds.product("v", d, int16_limit, wv, value_bias), x.shift_v(), int16_limit);
  bounds.scores();
  bounds.softmax();
  // Updates of the residual are differences of two range-checked values.
  bounds.shift("attention update", bounds.product("attention update", shape.query_features(), int16_limit, wo),
               x.shift_o(), 2 * residual);
  const int gate_bits = static_cast<int>(widths.gate_bits);
  bounds.shift("gate", bounds.product("gate", d, int16_limit, w_gate), x.shift_gate(), pow2(gate_bits - 1));
  // |f(x)| <= |x|
  const double activation = pow2(x.gelu - x.mlp + gate_bits - 1);
  bounds.add("activation", activation, static_cast<double>(most_activation(shape)));
  bounds.shift("product a*U", activation * bounds.product("up", d, int16_limit, w_up), x.shift_product(),
               pow2(static_cast<int>(widths.product_bits) - 1));
  const double product = pow2(static_cast<int>(widths.product_bits) - 1);
  bounds.shift("mlp update", static_cast<double>(shape.n_inner) * product * bounds.maximum(w_down), x.shift_down(),
               2 * residual);
  bounds.logits(shape.tied ? embedding : head, widths.final_bits, llama.logit_row);
  return bounds.take();
}

}  // namespace tessera
