#include "base/little_endian.hpp"
#include "plan/plan.hpp"
#include "plan/sampling.hpp"

namespace tessera {

void send_candidates(ProverTranscript& transcript, const Plan& plan, const Candidates& candidates) {
  if (!plan.pass.sampling || plan.pass.sampling->dense()) {
    return;
  }
  std::vector<std::uint8_t> ids, counts;
  for (const std::uint32_t id : candidates.ids) {
    append_little_endian(ids, id);
  }
  for (std::size_t row = 0; row < candidates.rows(); ++row) {
    append_little_endian(counts, static_cast<std::uint16_t>(candidates.within[row]));
    append_little_endian(counts, static_cast<std::uint16_t>(candidates.kept[row]));
  }
  transcript.send_bytes("candidates", ids);
  transcript.send_bytes("counts", counts);
}

}  // namespace tessera
