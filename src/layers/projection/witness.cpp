#include "layers/projection/projection.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const ProjectionPlan& projection, Communicator& comm) {
  if (projection.normed) {
    derive(witness, projection.normed->norm, comm);
  }
}

}  // namespace tessera
