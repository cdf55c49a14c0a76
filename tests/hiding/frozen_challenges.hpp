#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "transcript/verifier.hpp"

namespace tessera::test {

/// While it lives, challenges and positions of the transcripts below depend on the transcript's seed and on their order
/// alone, not on messages, and no work is needed: what the prover sends is a function of its randomness with all
/// challenges fixed.
class FrozenChallenges {
 public:
  FrozenChallenges() { frozen_ = true; }
  ~FrozenChallenges() { frozen_ = false; }
  FrozenChallenges(const FrozenChallenges&) = delete;
  FrozenChallenges& operator=(const FrozenChallenges&) = delete;
  [[nodiscard]] static bool frozen() { return frozen_; }

 private:
  inline static bool frozen_ = false;
};

class FreezableProver final : public ProverTranscript {
 public:
  using ProverTranscript::ProverTranscript;
  void grind(std::string_view label, unsigned bits, Communicator& comm) override {
    if (FrozenChallenges::frozen()) {
      send_bytes(label, std::array<std::uint8_t, sizeof(std::uint64_t)>{});
    } else {
      ProverTranscript::grind(label, bits, comm);
    }
  }

 private:
  void absorb(std::string_view label, std::span<const std::uint8_t> data) override {
    if (!FrozenChallenges::frozen()) {
      ProverTranscript::absorb(label, data);
    }
  }
};

class FreezableVerifier final : public VerifierTranscript {
 public:
  using VerifierTranscript::VerifierTranscript;

 private:
  void absorb(std::string_view label, std::span<const std::uint8_t> data) override {
    if (!FrozenChallenges::frozen()) {
      VerifierTranscript::absorb(label, data);
    }
  }
  [[nodiscard]] unsigned work_of(std::uint64_t nonce) const override {
    return FrozenChallenges::frozen() ? std::numeric_limits<unsigned>::max() : VerifierTranscript::work_of(nonce);
  }
};

}  // namespace tessera::test
