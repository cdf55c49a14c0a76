#include "cli/verify_sources.hpp"

#include <utility>

#include "archive/isolated_gathered.hpp"

namespace tessera::cli {

ProofSource proof_in(const std::string& archive, const GatheredProof& proof) {
  ProofSource source{archive, proof.name, {}};
  source.load = [name = source.name(), part = FilePart{archive, proof.offset, proof.bytes}] {
    return load_proof_isolated(name, part);
  };
  return source;
}

std::optional<ProofBeside> begin_reading(const std::vector<std::string>& files) {
  return files.size() == 1 ? std::optional<ProofBeside>(files.front()) : std::nullopt;
}

std::vector<ProofSource> proofs_in(const std::vector<std::string>& files, std::optional<ProofBeside>&& begun) {
  if (std::optional<StoredProof> proof = begun ? begun->take() : std::nullopt) {
    return {{files.front(), {}, [proof = std::move(*proof)] { return proof; }}};
  }
  std::vector<ProofSource> sources;
  for (const std::string& file : files) {
    try {
      if (const auto proofs = list_gathered_isolated(file)) {
        for (const GatheredProof& proof : *proofs) {
          sources.push_back(proof_in(file, proof));
        }
      } else {
        sources.push_back(proof_in(file));
      }
    } catch (...) {
      sources.push_back(
          {file, {}, [error = std::current_exception()]() -> StoredProof { std::rethrow_exception(error); }});
    }
  }
  return sources;
}

}  // namespace tessera::cli
