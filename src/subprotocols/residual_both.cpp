#include "plan/sides.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/residual.hpp"

namespace tessera {
namespace {

/// What clamping took from the update at p: of x_in one block later, and of x_end.
template <class Side>
E clamped_update(const Side& context, const ResidualEnd& stream, const TensorPoint& at) {
  const std::size_t blocks = stream.feature.dimensions()[0].length;
  E sum = eq_index(at[0], blocks - 1) * context.exceptions.excess_at(stream.x_end.checked.clamp, {at[1], at[2]});
  for (const Exception& entry : context.exceptions.entries(stream.x_in.checked.clamp)) {
    const std::vector<std::size_t> indices = place_indices(stream.feature, entry.place);
    sum += eq_index(at[0], indices[0] - 1) * eq_index(at[1], indices[1]) * eq_index(at[2], indices[2]) *
           F::from_signed(entry.excess);
  }
  return sum;
}

}  // namespace

template <class Side>
ScalarFor<Side> block_update(Side& context, const ResidualEnd& stream) {
  const std::size_t blocks = stream.feature.dimensions()[0].length;
  const TensorPoint at = context.lookup.point(stream.feature);
  const auto next = context.committed("x_next", stream.x_in.tensor,
                                      {next_block(at[0], blocks), Factor::at(at[1]), Factor::at(at[2])});
  const auto end = context.committed("x_end", stream.x_end.tensor, weight_at({at[1], at[2]}));
  check_limits(context, stream.x_in.checked.clamp, stream.x_in.tensor);
  check_limits(context, stream.x_end.checked.clamp, stream.x_end.tensor);
  return next + eq_index(at[0], blocks - 1) * end - context.lookup.value(stream.x_mid.checked) +
         clamped_update(context, stream, at);
}

#define INSTANTIATE(Side) template ScalarFor<Side> block_update(Side&, const ResidualEnd&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
