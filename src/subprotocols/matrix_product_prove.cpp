#include "subprotocols/matrix_product.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

PointClaim prove_matrix_product(ProverContext& context, const MatrixProductShape& product, const TensorPoint& at,
                                std::vector<E> input_at_token) {
  const auto scope = context.transcript.scope("product");
  const std::size_t n = product.weights.size();
  const MatrixProductRelation relation{n > 1 ? powers(context.transcript.challenge("lambda"), n) : powers(E::one(), 1)};
  const std::size_t in_size = std::size_t{1} << product.in_bits;
  std::vector<std::vector<E>> tables(2);
  for (const E& block : eq_table(at[0])) {
    tables[0].insert(tables[0].end(), in_size, block);
  }
  tables[1] = std::move(input_at_token);
  for (const ParameterId weight : product.weights) {
    const Shape& shape = context.plan.parameter_shape(weight);
    std::vector<Axis> axes(shape.dimensions().size());
    for (std::size_t j = 1; j + 1 < at.size(); ++j) {
      axes[j] = eq_table(at[j]);
    }
    tables.push_back(contract(context.witness.parameter(weight), shape, axes, context.comm));
  }
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(context.transcript, round_kernel(relation), std::move(tables));
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + product.block_bits);
  const Point in(sumcheck.point.begin() + product.block_bits, sumcheck.point.end());
  for (std::size_t k = 0; k < n; ++k) {
    const Shape& shape = context.plan.parameter_shape(product.weights[k]);
    context.parameter("weight", product.weights[k], matrix_weight(shape, block, at, in), sumcheck.factors[2 + k]);
  }
  context.transcript.send("input", sumcheck.factors[1]);
  return {{block, in, at.back()}, sumcheck.factors[1]};
}

}  // namespace tessera
