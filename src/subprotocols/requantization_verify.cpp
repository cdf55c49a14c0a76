#include "subprotocols/requantization.hpp"

namespace tessera {

E requantized(const Shape& shape, const TensorPoint& at, E value, E remainder, unsigned shift) {
  return value * two_to_the(shift) + remainder - presence_at(shape, at) * two_to_the(shift - 1);
}

E verify_requantization(VerifierContext& context, const RangeCheck& remainder, const TensorPoint& at, E value) {
  E sum;
  for (std::size_t i = 0; i < remainder.committed.size(); ++i) {
    const E piece = context.committed(remainder.name, remainder.committed[i], weight_at(at));
    sum += piece * two_to_the(static_cast<unsigned>(16 * i));
  }
  return requantized(remainder.shape, at, value, sum, remainder.width);
}

}  // namespace tessera
