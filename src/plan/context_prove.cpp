#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {

void ProverContext::parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight, E value) {
  transcript.send(label, value);
  ledger.add(parameter_oracle, plan.parameter_index[tensor], std::move(weight), value);
}

void ProverContext::committed(std::string_view label, TensorId tensor, std::vector<Factor> weight, E value) {
  transcript.send(label, value);
  ledger.add(witness_oracle, tensor, std::move(weight), value);
}

E ProverContext::parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight) {
  const E value = weighted_sum(witness.parameter(tensor), plan.parameter_shape(tensor), weight, comm);
  parameter(label, tensor, std::move(weight), value);
  return value;
}

E ProverContext::committed(std::string_view label, TensorId tensor, std::vector<Factor> weight) {
  const E value = weighted_sum(witness.tensors[tensor], plan.witness_shapes[tensor], weight, comm);
  committed(label, tensor, std::move(weight), value);
  return value;
}

E ProverContext::derived(std::string_view label, Derived tensor, const Shape& shape,
                         const std::vector<Factor>& weight) {
  const E value = weighted_sum(&witness[tensor], shape, weight, comm);
  transcript.send(label, value);
  return value;
}

E ProverContext::state(std::string_view label, OracleId oracle, StateTensor tensor, std::vector<Factor> weight) {
  const auto& tensors = oracle == past_oracle ? witness.past : witness.kept;
  const E value = weighted_sum(&tensors[tensor], plan.state_layout.tensors()[tensor], weight, comm);
  transcript.send(label, value);
  ledger.add(oracle, tensor, std::move(weight), value);
  return value;
}

}  // namespace tessera
