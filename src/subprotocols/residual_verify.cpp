#include "subprotocols/residual.hpp"

namespace tessera {

Factor next_block(const Point& block, std::size_t blocks) {
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << block.size()));
  for (std::size_t b = 0; b + 1 < blocks; ++b) {
    weight.head[b + 1] = eq_index(block, b);
  }
  return weight;
}

template <class S>
S verify_block_update(VerifierContext<S>& context, const ResidualEnd& stream) {
  const std::size_t blocks = stream.feature.dimensions()[0].length;
  const TensorPoint at = context.lookup.point(stream.feature);
  const S next = context.committed("x_next", stream.x_in.tensor,
                                   {next_block(at[0], blocks), Factor::at(at[1]), Factor::at(at[2])});
  const S end = context.committed("x_end", stream.x_end.tensor, weight_at({at[1], at[2]}));
  return next + eq_index(at[0], blocks - 1) * end - context.lookup.value(stream.x_mid.checked);
}

#define INSTANTIATE(S) template S verify_block_update(VerifierContext<S>&, const ResidualEnd&);
TESSERA_FOR_SCALARS(INSTANTIATE)

}  // namespace tessera
