#include "subprotocols/residual.hpp"
#include "plan/prover_context.hpp"
#include "subprotocols/claim_reduction.hpp"

namespace tessera {

void prove_block_update(ProverContext& context, const ResidualEnd& stream) {
  const TensorPoint at = context.lookup.point(stream.feature);
  context.committed("x_next", stream.x_in.tensor,
                    {next_block(at[0], stream.feature.dimensions()[0].length), Factor::at(at[1]), Factor::at(at[2])});
  context.committed("x_end", stream.x_end.tensor, weight_at({at[1], at[2]}));
  prove_limits(context, stream.x_in.checked.clamp, stream.x_in.tensor);
  prove_limits(context, stream.x_end.checked.clamp, stream.x_end.tensor);
}

}  // namespace tessera
