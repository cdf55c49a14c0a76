#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/serialization/array.hpp>
#include <tessera/statement.hpp>

namespace tessera {

template <class Archive>
void serialize(Archive& archive, Sampling& sampling, unsigned /*version*/) {
  archive& sampling.inverse_temperature& sampling.top_k& sampling.top_p& sampling.cutoff& sampling.seed;
}

/// What all ranks of a proving job must agree on; rank 0 resolves it and broadcasts it.
struct JobPlan {
  std::vector<std::uint32_t> prompt;         // token ids: new ones
  std::uint32_t generate = 0;                // tokens to generate
  bool keeps = false;                        // a state for a later part is kept
  std::uint32_t pass_length = 0;             // Statement::pass_length
  std::string scratch;                       // directory for trace shards; empty: keep the trace in memory
  std::uint64_t memory = 0;                  // bytes a rank for a codeword that is kept, see default_codeword_budget
  std::string checkpoint;                    // directory of checkpoints; empty: none
  double every = 0;                          // minutes between them at least; 0: after every phase
  std::vector<std::uint32_t> expected = {};  // ids that the model is said to generate; empty: nobody says
  bool samples = false;                      // tokens are drawn as `sampling` says
  Sampling sampling = {};
  friend bool operator==(const JobPlan&, const JobPlan&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& prompt& generate& keeps& pass_length& scratch& memory& checkpoint& every& expected& samples& sampling;
  }
};

/// How the job's tokens are drawn; nothing: each is the arg-max.
inline std::optional<Sampling> sampling_in(const JobPlan& job) {
  return job.samples ? std::optional(job.sampling) : std::nullopt;
}

}  // namespace tessera
