#include "model/bounds.hpp"

namespace tessera {

std::vector<Bound> gpt2_bounds(const ModelShape& shape, const IntegerConstants& constants, const Exponents& x,
                               const ParameterMaxima& maxima) {
  BoundList bounds(shape, constants, x, maxima);
  const std::size_t d = shape.n_embd;
  const double residual = bounds.residual();
  bounds.context();
  bounds.add("embedding + position", bounds.maximum(embedding) + bounds.maximum(position), residual - 1);
  bounds.norms("layer norm", static_cast<double>(d) * residual + static_cast<double>(d));
  const auto norm = [&](const std::string& name, ParameterId gamma, ParameterId beta, int a_gamma, int a_beta, int u) {
    // |x - mu| <= sigma
    const double accumulator = static_cast<double>(constants.norm_numerator) * bounds.maximum(gamma) +
                               bounds.maximum(beta) * BoundList::pow2(x.bias_norm(a_gamma, a_beta));
    bounds.shift(name, accumulator, x.shift_norm(a_gamma, u), BoundList::int16_limit);
  };
  norm("u1", gamma1, beta1, x.gamma1, x.beta1, x.u1);
  norm("u2", gamma2, beta2, x.gamma2, x.beta2, x.u2);
  norm("uf", gammaf, betaf, x.gammaf, x.betaf, x.uf);
  const auto product = [&](const std::string& name, std::size_t in, ParameterId weight, ParameterId bias,
                           int bias_shift, int shift, double y_limit) {
    const double sum =
        bounds.product(name, in, BoundList::int16_limit, weight, bounds.maximum(bias) * BoundList::pow2(bias_shift));
    bounds.shift(name, sum, shift, y_limit);
  };
  product("q", d, wq, bq, x.bias_q(), x.shift_q(), BoundList::int16_limit);
  product("k", d, wk, bk, x.bias_k(), x.shift_k(), BoundList::int16_limit);
  product("v", d, wv, bv, x.bias_v(), x.shift_v(), BoundList::int16_limit);
  // Updates of the residual are differences of two range-checked values.
  product("attention update", d, wo, bo, x.bias_o(), x.shift_o(), 2 * residual);
  product("mlp", d, w1, b1, x.bias_1(), x.shift_1(), BoundList::int16_limit);
  product("mlp update", shape.n_inner, w2, b2, x.bias_2(), x.shift_2(), 2 * residual);
  bounds.scores();
  bounds.softmax();
  bounds.logits(embedding);
  return bounds.take();
}

}  // namespace tessera
