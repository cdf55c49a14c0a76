#include "plan/context.hpp"

namespace tessera {

template <class S>
S LookupValuesOf<S>::value(const RangeCheck& range) const {
  S value{};
  for (std::size_t i = range.pieces(); i-- > 0;) {
    value = value * two_to_the(16) + claims_.a[range.columns[i]];
  }
  return range.offset == 0 ? value
                           : value - presence_at(range.shape, point(range.shape)) * F::from_signed(range.offset);
}

template <class S>
void LookupValuesOf<S>::add_claims(ClaimLedgerOf<S>& ledger) const {
  const auto add = [&](TensorId tensor, const Shape& shape, const S& value) {
    ledger.add(witness_oracle, tensor, weight_at(point(shape)), value);
  };
  for (const RangeCheck& range : plan_.ranges) {
    for (std::size_t i = 0; i < range.committed.size(); ++i) {
      add(range.committed[i], range.shape, claims_.a[range.columns[i]]);
    }
  }
  for (const CheckedTensor& checked : plan_.checked_tensors) {
    const RangeCheck& range = plan_.ranges[checked.range.range];
    add(checked.tensor, range.shape, value(range));
  }
  for (const PairLookup& pair : plan_.pairs) {
    add(pair.output, pair.shape, output(pair));
  }
  for (std::size_t table = 0; table < plan_.multiplicities.size(); ++table) {
    const TensorId tensor = plan_.multiplicities[table];
    add(tensor, plan_.witness_shapes[tensor], claims_.multiplicity[table]);
  }
}

#define INSTANTIATE(S) template class LookupValuesOf<S>;
TESSERA_FOR_SCALARS(INSTANTIATE)

Point join(std::span<const E> high, std::span<const E> low) {
  Point point(high.begin(), high.end());
  point.insert(point.end(), low.begin(), low.end());
  return point;
}
#undef INSTANTIATE

}  // namespace tessera
