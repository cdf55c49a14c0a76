#include "cli/verify_sources.hpp"

#include <memory>

#include "archive/isolated_gathered.hpp"
#include "archive/isolated.hpp"
#include "base/errors.hpp"

namespace tessera::cli {
namespace {

/// The source of a file that is one proof, which has been read; nothing of any other file.
std::optional<ProofSource> read_source(const std::string& file) {
  try {
    const auto proof = std::make_shared<const StoredProof>(load_proof_isolated(file));
    return ProofSource{file, {}, [proof] { return *proof; }};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

ProofSource proof_in(const std::string& archive, const GatheredProof& proof) {
  ProofSource source{archive, proof.name, {}};
  source.load = [name = source.name(), part = FilePart{archive, proof.offset, proof.bytes}] {
    return load_proof_isolated(name, part);
  };
  return source;
}

std::vector<ProofSource> proofs_in(const std::vector<std::string>& files) {
  std::vector<ProofSource> sources;
  for (const std::string& file : files) {
    try {
      if (auto read = files.size() == 1 ? read_source(file) : std::nullopt) {  // one process less for what is usual
        sources.push_back(std::move(*read));
      } else if (const auto proofs = list_gathered_isolated(file)) {
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
