#include "subprotocols/matrix_product.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

namespace {

/// X(., ., r_t), without the padding of heads.
const std::vector<E>& input_at_token(ProverContext& context, const MatrixInput& input, const Point& token) {
  MatrixInput::AtToken& made = input.made;
  if (!made.values.empty() && made.token == token) {
    return made.values;
  }
  std::vector<Axis> axes(input.shape.dimensions().size());
  axes.back() = eq_table(token);
  made = {token, contract(context.witness.view(input.tensor), input.shape, axes, context.comm)};
  if (input.heads == nullptr || input.heads->whole()) {
    return made.values;
  }
  const unsigned padded_bits = input.shape.dimensions()[1].bits();
  const std::size_t blocks = made.values.size() >> padded_bits;
  std::vector<E> features(blocks << input.bits());
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t x = 0; x < input.heads->features(); ++x) {
      features[(b << input.bits()) + x] = made.values[(b << padded_bits) + padded_place(*input.heads, x)];
    }
  }
  made.values = std::move(features);
  return made.values;
}

}  // namespace

PointClaim matrix_product(ProverContext& context, const std::vector<ParameterId>& weights, const TensorPoint& at,
                          const std::vector<E>& /*values*/, const MatrixInput& input) {
  const std::vector<E>& at_token = input_at_token(context, input, at.back());
  const auto scope = context.transcript.scope("product");
  const std::size_t n = weights.size();
  const MatrixProductRelation relation{n > 1 ? powers(context.transcript.challenge("lambda"), n) : powers(E::one(), 1)};
  const std::size_t in_size = std::size_t{1} << input.bits();
  std::vector<std::vector<E>> tables(2);
  for (const E& block : eq_table(at[0])) {
    tables[0].insert(tables[0].end(), in_size, block);
  }
  tables[1] = at_token;
  for (const ParameterId weight : weights) {
    const Shape& shape = context.plan.parameter_shape(weight);
    std::vector<Axis> axes(shape.dimensions().size());
    for (std::size_t j = 1; j + 1 < at.size(); ++j) {
      axes[j] = eq_table(at[j]);
    }
    tables.push_back(contract(context.witness.parameter(weight), shape, axes, context.comm));
  }
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(context.transcript, round_kernel(relation), std::move(tables));
  const auto block_bits = static_cast<std::ptrdiff_t>(at[0].size());
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point in(sumcheck.point.begin() + block_bits, sumcheck.point.end());
  for (std::size_t k = 0; k < n; ++k) {
    const Shape& shape = context.plan.parameter_shape(weights[k]);
    context.parameter("weight", weights[k], matrix_weight(shape, block, at, in), sumcheck.factors[2 + k]);
  }
  context.transcript.send("input", sumcheck.factors[1]);
  return {{block, in, at.back()}, sumcheck.factors[1]};
}

}  // namespace tessera
