#include "cli/sampling_options.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

#include "base/errors.hpp"
#include "cluster/agreement.hpp"
#include "cluster/serialization.hpp"
#include "hash/hex.hpp"
#include "protocol/seed.hpp"

namespace tessera::cli {

std::optional<Sampling> sampling_of(const SamplingOptions& options) {
  if (!options.samples()) {
    return std::nullopt;
  }
  Sampling sampling = make_sampling({*options.temperature, options.top_k, options.top_p, options.min_p});
  if (!options.seed.empty()) {
    sampling.seed = digest_in(options.seed);
  }
  if (!options.opening.empty()) {
    sampling.seed = joint_seed(digest_in(options.opening), sampling.seed);
  }
  return sampling;
}

bool draw_seed(SamplingOptions& options, Communicator& comm) {
  if (!options.samples() || !options.seed.empty()) {
    return false;
  }
  Digest seed{};
  fail_together(comm, [&] {
    if (comm.rank() == 0 && ::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size())) {
      throw JobError("seed: no random bytes: " + std::system_category().message(errno));
    }
  });
  options.seed = to_hex(seed);
  broadcast_object(comm, options.seed);
  return true;
}

}  // namespace tessera::cli
