#pragma once

#include <gtest/gtest.h>

#include "frozen_challenges.hpp"
#include "hiding_job.hpp"

namespace tessera::test {

inline std::vector<E> pads_of(const ModelPlan& plan, const Digest& seed) {
  std::vector<E> pads(plan.hiding->pads.pads);
  KeyedStream(seed, "pads").elements(0, std::span<E>(pads));
  return pads;
}

inline E element_at(const ProverTranscript& proof, std::size_t place) {
  const std::uint8_t* const bytes = proof.payload().data() + place;
  return {F::from_canonical(read_little_endian<std::uint64_t>(bytes)),
          F::from_canonical(read_little_endian<std::uint64_t>(bytes + 8))};
}

/// Everything that is sent before the opening, by a proof with this seed.
inline FreezableProver prove_layers(const HidingJob& job, const Digest& seed) {
  FreezableProver transcript(statement_seed(job.test.key, job.statement));
  const HidingWitness random(*job.plan.hiding, job.plan.witness_oracle, seed, job.test.comm);
  prove_hidden_layers(transcript, job.plan, job.statement, *job.witness, random, seed, job.test.comm);
  return transcript;
}

inline bool holds_elements(const Message& message) {
  return message.label != "witness" && message.label != "work" && message.label != "exceptions" &&
         message.label != "places" && !(message.path == "/pads" && message.label == "factors");
}

/// With the same challenges two proofs differ by their pads alone, each element by its own: until products of pads are
/// proven, whose rounds are sums of products of pads beside.
inline void expect_pads(HidingJob job) {
  const FrozenChallenges frozen;
  const Digest seed{3}, other_seed{4};
  const FreezableProver proof = prove_layers(job, seed), other = prove_layers(job, other_seed);
  const std::vector<E> pads = pads_of(job.plan, seed), others = pads_of(job.plan, other_seed);
  std::size_t next = 0;
  ASSERT_EQ(proof.messages().size(), other.messages().size());
  for (const Message& message : proof.messages()) {
    if (holds_elements(message)) {
      ASSERT_EQ(message.length % sizeof(E), 0U);
      for (std::size_t place = message.offset; place < message.offset + message.length; place += sizeof(E), ++next) {
        ASSERT_LT(next, pads.size());
        if (!message.path.starts_with("/pads")) {
          EXPECT_EQ(element_at(proof, place) - element_at(other, place), pads[next] - others[next])
              << message.path << ":" << message.label;
        }
      }
    }
  }
  EXPECT_EQ(next, pads.size());
}

}  // namespace tessera::test
