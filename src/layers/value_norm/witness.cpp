#include "layers/value_norm/value_norm.hpp"
#include "plan/witness.hpp"

namespace tessera {

template <class T>
void derive(Witness& witness, const ValueNormPlan<T>& norm, Communicator& comm) {
  const ChunkedTensor<T>& h = witness[norm.h];
  auto& square_sum = witness[norm.square_sum];
  const std::size_t tokens = norm.token.dimensions().back().chunk();
  for (const std::size_t chunk : h.held()) {
    std::vector<std::size_t> kept;
    for (std::size_t j = 0; j < norm.value.dimensions().size(); ++j) {
      if (norm.keeps(j)) {
        kept.push_back(norm.value.coordinate(chunk, j));
      }
    }
    const std::span<const T> values = h.chunk(chunk);
    const std::span<std::int64_t> sums = square_sum.chunk(norm.token.chunk_at(kept));
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i % tokens] += std::int64_t{values[i]} * values[i];
    }
  }
  if (square_sum.ownership().dimension == Ownership::replicated) {
    comm.all_reduce_sum(std::span(square_sum.values()));
  }
  std::vector<std::uint64_t> variance;
  for (const std::int64_t sum : square_sum.values()) {
    variance.push_back(static_cast<std::uint64_t>(sum + norm.epsilon));
  }
  derive(witness, norm, norm.norm_numerator, variance);
}

template void derive(Witness&, const HeadNormPlan&, Communicator&);
template void derive(Witness&, const BranchNormPlan&, Communicator&);

}  // namespace tessera
