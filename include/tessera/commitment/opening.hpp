#pragma once

#include <memory>

#include <tessera/commitment/oracle.hpp>

namespace tessera {

/// A committed oracle as the verifier knows it.
struct CommittedOracle {
  OracleLayout layout;
  OracleParameters parameters;
  Digest root{};
};

/// The prover's view of a committed oracle's codeword: columns and authentication paths by position, from memory or file.
/// With several ranks every rank answers for the positions it holds; the calls are collective.
class CodewordStore {
 public:
  virtual ~CodewordStore() = default;
  [[nodiscard]] virtual Digest root() const = 0;
  /// The columns at `positions` (2^log_rows values each, concatenated), the same on every rank.
  virtual std::vector<F> columns(std::span<const std::size_t> positions) = 0;
  /// Nodes of the tree, level 0 = leaves; the same on every rank.
  virtual std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) = 0;
};

/// Encodes and hashes the tensors (in layout order; views of what this rank holds). Collective.
std::unique_ptr<CodewordStore> commit_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                                             std::span<const IntegerTensor> tensors, Communicator& comm);

/// The prover's side of one oracle in the opening.
struct OracleWitness {
  std::vector<IntegerTensor> tensors;
  CodewordStore* codeword = nullptr;
};

/// One opening for all claims on all oracles (interleaved WHIR in the unique-decoding regime). claims[j] are the claims
/// on oracle j; Claim::tensor numbers the tensors of its layout. All claimed values are already absorbed.
void verify_opening(VerifierTranscript& transcript, std::span<const CommittedOracle> oracles,
                    std::span<const std::vector<Claim>> claims);
void prove_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                   std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims, Communicator& comm);

/// Soundness of the opening, entry by entry (see soundness.hpp).
std::vector<SoundnessEntry> opening_soundness(std::span<const CommittedOracle> oracles, std::size_t claims);

}  // namespace tessera
