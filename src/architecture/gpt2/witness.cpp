#include "plan/witness.hpp"

#include "architecture/gpt2/gpt2.hpp"

namespace tessera {

std::unique_ptr<Witness> make_witness(const Gpt2Plan& plan, const Statement& statement, const Trace& trace,
                                      const ParameterTensors& parameters, Communicator& comm, Strangers strangers) {
  auto witness = std::make_unique<Witness>(plan, trace, parameters, comm);
  derive(*witness, plan.norm_1, comm);
  derive(*witness, plan.norm_2, comm);
  derive(*witness, plan.norm_final, comm);
  derive(*witness, plan.cache, comm);
  derive(*witness, plan.attention);
  derive(*witness, plan.mlp);
  derive(*witness, plan.logits, statement, comm);
  witness->finish(comm, strangers);
  return witness;
}

}  // namespace tessera
