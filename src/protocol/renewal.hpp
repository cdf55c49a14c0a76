#pragma once

#include <array>
#include <functional>

#include "protocol/identified_key.hpp"
#include "protocol/protocol.hpp"

/// \file
/// Renewals: a proof that two hiding keys commit to the same parameters, which reveals nothing else
/// (src/spec/hiding.md, section 8). The keys are equal but for root, rows and number of proofs.

namespace tessera {

/// What is proven and opened; oracles are the parameters under the old key, under the new one, and masks.
struct RenewalPlan {
  enum Tensor : std::size_t { row_masks, random_tail };
  std::array<OracleLayout, 2> parameters;
  std::array<CommittedOracle, 2> committed;
  OracleLayout masks;
  OracleParameters mask_oracle;
  unsigned row_variables = 0;

  /// Throws InputError if a key is not hiding, if they differ in more than they may, or if they are the same.
  static RenewalPlan of(const VerifyingKey& old_key, const VerifyingKey& new_key, const Division& division = {});
  /// The three oracles of a renewal, in the opening's order.
  [[nodiscard]] std::vector<CommittedOracle> oracles(const Digest& mask_root) const;
};

/// H("tessera renewal" || format version || digests of the old and of the new key).
Digest renewal_seed(const VerifyingKey& old_key, const VerifyingKey& new_key);

/// Soundness of every round.
SoundnessReport renewal_soundness(const RenewalPlan& plan);

/// Checks that `payload` proves that the keys commit to the same parameters. Never throws for anything that a prover
/// supplies, keys included. Serial.
Verdict verify_renewal(const VerifyingKey& old_key, const VerifyingKey& new_key, std::span<const std::uint8_t> payload);

/// Checks a renewal that names the key which it renews, as the other verify_renewal() does: if it names another key
/// than `old_key`, it is rejected for that.
Verdict verify_renewal(const IdentifiedKey& old_key, const Digest& named, const IdentifiedKey& new_key,
                       std::span<const std::uint8_t> payload);

/// One of the two commitments, as the prover has it: its tensors with the random columns last.
using RenewalSide = OracleWitness;

/// Proves it; `seed` is of all random elements and never used again, `reserve` takes a use of each commitment before
/// anything is made public. Collective; every rank returns the same payload. Throws InputError as RenewalPlan::of().
Proof prove_renewal(const VerifyingKey& old_key, const VerifyingKey& new_key, const std::array<RenewalSide, 2>& sides,
                    const Digest& seed, const std::function<void()>& reserve, Communicator& comm);

}  // namespace tessera
