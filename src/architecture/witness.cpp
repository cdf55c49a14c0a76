#include "plan/witness.hpp"

#include "architecture/model_plan.hpp"

namespace tessera {

std::unique_ptr<Witness> make_witness(const ModelPlan& plan, const Statement& statement, const Trace& trace,
                                      const ParameterTensors& parameters, Communicator& comm, OutOfRange out_of_range) {
  auto witness = std::make_unique<Witness>(plan, trace, parameters, comm);
  for (const NormLayer* norm : plan.norms()) {
    std::visit([&](const auto& layer) { derive(*witness, layer, comm); }, *norm);
  }
  if (const auto* qkv = std::get_if<GroupedQkvPlan>(&plan.qkv)) {
    derive(*witness, *qkv, comm);
  }
  derive(*witness, plan.cache, comm);
  derive(*witness, plan.attention, comm);
  derive(*witness, plan.projection, comm);
  std::visit([&](const auto& layer) { derive(*witness, layer, comm); }, plan.mlp);
  derive(*witness, plan.logits, statement, comm);
  witness->finish(comm, out_of_range);
  return witness;
}

}  // namespace tessera
