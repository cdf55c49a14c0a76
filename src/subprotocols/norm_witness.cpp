#include "subprotocols/norm.hpp"
#include "plan/witness.hpp"

namespace tessera {

TokenSums token_sums(const ChunkedTensor<std::int32_t>& x, const NormSpec& norm, Communicator& comm) {
  const Dimension& passes = norm.token.dimensions().back();
  const std::size_t tokens = passes.chunk();
  TokenSums sums{std::vector<std::int64_t>(norm.token.chunk_count() * tokens), {}};
  sums.square_sum.resize(sums.sum.size());
  const bool blocks = norm.activation.dimensions().size() == 3;
  for (const std::size_t chunk : x.held()) {
    const std::size_t block = blocks ? norm.activation.coordinate(chunk, 0) : 0;
    const std::size_t pass = norm.activation.coordinate(chunk, norm.activation.dimensions().size() - 1);
    const std::size_t first = (block * passes.chunk_count() + pass) * tokens;
    const std::span<const std::int32_t> values = x.chunk(chunk);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t value = values[i];
      sums.sum[first + i % tokens] += value;
      sums.square_sum[first + i % tokens] += value * value;
    }
  }
  comm.all_reduce_sum(std::span(sums.sum));
  comm.all_reduce_sum(std::span(sums.square_sum));
  return sums;
}

void derive(Witness& witness, const InverseRoot& root, std::int64_t numerator,
            std::span<const std::uint64_t> variance) {
  const auto& sigma_of = witness[root.sigma].values();
  const auto& inverse_of = witness[root.inverse].values();
  auto& root_remainder = witness[root.root_remainder].values();
  auto& root_complement = witness[root.root_complement].values();
  auto& inverse_remainder = witness[root.inverse_remainder].values();
  auto& inverse_complement = witness[root.inverse_complement].values();
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const std::int64_t sigma = sigma_of[i];
    root_remainder[i] = static_cast<std::int64_t>(variance[i] - static_cast<std::uint64_t>(sigma * sigma));
    root_complement[i] = 2 * sigma - root_remainder[i];
    inverse_remainder[i] = numerator - inverse_of[i] * sigma;
    inverse_complement[i] = sigma - 1 - inverse_remainder[i];
  }
}

}  // namespace tessera
