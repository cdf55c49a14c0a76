#include "subprotocols/norm.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

std::vector<E> dense_table(const IntegerTensor& tensor, const Shape& shape, Communicator& comm) {
  return contract(tensor, shape, std::vector<Axis>(shape.dimensions().size()), comm);
}

std::vector<bool> all_but_features(const Shape& activation) {
  std::vector<bool> kept(activation.dimensions().size(), true);
  kept[kept.size() - 2] = false;
  return kept;
}

std::vector<bool> all_but_tokens(const Shape& activation) {
  std::vector<bool> kept(activation.dimensions().size(), true);
  kept.back() = false;
  return kept;
}

void prove_inverse_root(ProverContext& context, const InverseRoot& root, const Shape& shape, std::vector<E> sigma,
                        std::vector<E> inverse) {
  const RootRelation relation{context.transcript.challenge("lambda")};
  const auto scope = context.transcript.scope("token");
  const Point at = to_flat_point(shape, context.lookup.point(shape));
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(context.transcript, round_kernel(relation), {std::move(sigma), std::move(inverse)}, at);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  context.committed("sigma", root.sigma.tensor, weight_at(end), sumcheck.factors[0]);
  context.committed("inverse", root.inverse.tensor, weight_at(end), sumcheck.factors[1]);
}

}  // namespace tessera
