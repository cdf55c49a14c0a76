#include "layers/rms_norm/rms_norm.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const RmsNormPlan& norm, Communicator& comm) {
  const TokenSums sums = token_sums(witness[norm.x], norm, comm);
  auto& square_sum = witness[norm.square_sum].values();
  std::vector<std::uint64_t> variance(sums.square_sum.size());
  for (std::size_t i = 0; i < variance.size(); ++i) {
    square_sum[i] = sums.square_sum[i];
    variance[i] = static_cast<std::uint64_t>(sums.square_sum[i]) + static_cast<std::uint64_t>(norm.epsilon);
  }
  derive(witness, norm, norm.norm_numerator, variance);
}

}  // namespace tessera
