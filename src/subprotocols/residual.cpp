#include "subprotocols/residual.hpp"

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

}  // namespace tessera
