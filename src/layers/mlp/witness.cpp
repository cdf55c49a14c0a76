#include "layers/mlp/mlp.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const MlpPlan& mlp, Communicator& /*comm*/) {
  witness.set_input(mlp.gelu, witness[mlp.z], 1U << (gelu_table_log_size - 1));
}

}  // namespace tessera
