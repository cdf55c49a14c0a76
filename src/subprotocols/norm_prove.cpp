#include "subprotocols/norm.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

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

std::vector<E> prove_inverse_root(ProverContext& context, const InverseRoot& root, const Shape& shape,
                                  Derived square_sum) {
  const Witness& witness = context.witness;
  const TensorPoint token = context.lookup.point(shape);
  const auto table = [&](TensorId tensor) { return dense_table(witness.tensors[tensor], shape, context.comm); };
  context.transcript.send("square_sum", weighted_sum(&witness[square_sum], shape, weight_at(token), context.comm));
  const RootRelation relation{context.transcript.challenge("lambda")};
  const auto scope = context.transcript.scope("token");
  std::vector<E> inverse = table(root.inverse.tensor);
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(
      context.transcript, round_kernel(relation), {table(root.sigma.tensor), inverse}, to_flat_point(shape, token));
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  context.committed("sigma", root.sigma.tensor, weight_at(end), sumcheck.factors[0]);
  context.committed("inverse", root.inverse.tensor, weight_at(end), sumcheck.factors[1]);
  return inverse;
}

}  // namespace tessera
