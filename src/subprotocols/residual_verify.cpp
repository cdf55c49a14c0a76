#include "subprotocols/residual.hpp"

#include "subprotocols/claim_reduction.hpp"

namespace tessera {

Factor next_block(const Point& block, std::size_t blocks) {
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << block.size()));
  for (std::size_t b = 0; b + 1 < blocks; ++b) {
    weight.head[b + 1] = eq_index(block, b);
  }
  return weight;
}

ClampedBlock next_stream(const ResidualEnd& stream, std::size_t block) {
  const bool last = block + 1 == stream.feature.dimensions()[0].length;
  return last ? ClampedBlock{stream.x_end.checked.clamp, 0} : ClampedBlock{stream.x_in.checked.clamp, block + 1};
}

namespace {

/// What clamping took from the update at p: of x_in one block later, and of x_end.
template <class S>
E clamped_update(const VerifierContext<S>& context, const ResidualEnd& stream, const TensorPoint& at) {
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

template <class S>
S verify_block_update(VerifierContext<S>& context, const ResidualEnd& stream) {
  const std::size_t blocks = stream.feature.dimensions()[0].length;
  const TensorPoint at = context.lookup.point(stream.feature);
  const S next = context.committed("x_next", stream.x_in.tensor,
                                   {next_block(at[0], blocks), Factor::at(at[1]), Factor::at(at[2])});
  const S end = context.committed("x_end", stream.x_end.tensor, weight_at({at[1], at[2]}));
  verify_limits(context, stream.x_in.checked.clamp, stream.x_in.tensor);
  verify_limits(context, stream.x_end.checked.clamp, stream.x_end.tensor);
  return next + eq_index(at[0], blocks - 1) * end - context.lookup.value(stream.x_mid.checked) +
         clamped_update(context, stream, at);
}

#define INSTANTIATE(S) template S verify_block_update(VerifierContext<S>&, const ResidualEnd&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
