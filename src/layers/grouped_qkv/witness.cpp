#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const GroupedQkvPlan& qkv, Communicator& comm) {
  for (const std::optional<HeadNormPlan>& norm : qkv.head_norm) {
    if (norm) {
      derive(witness, *norm, comm);
    }
  }
}

}  // namespace tessera
