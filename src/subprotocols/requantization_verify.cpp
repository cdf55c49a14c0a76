#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
S verify_requantization(VerifierContext<S>& context, RangeId id, const TensorPoint& at, std::type_identity_t<S> value) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  S sum{};
  for (std::size_t i = 0; i < remainder.committed.size(); ++i) {
    const S piece = context.committed(remainder.name, remainder.committed[i], weight_at(at));
    sum += piece * two_to_the(static_cast<unsigned>(16 * i));
  }
  return requantized<S>(remainder.shape, at, value, sum, remainder.width);
}

template E verify_requantization(VerifierContext<E>&, RangeId, const TensorPoint&, E);
template Nothing verify_requantization(VerifierContext<Nothing>&, RangeId, const TensorPoint&, Nothing);

}  // namespace tessera
