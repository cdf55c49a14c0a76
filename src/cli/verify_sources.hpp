#pragma once

#include <string>
#include <vector>

#include "cli/verify_judge.hpp"
#include "datasets/gathered_proofs.hpp"

namespace tessera::cli {

/// A proof of an archive of many, read in a confined child process.
ProofSource proof_in(const std::string& archive, const GatheredProof& proof);

/// The proofs in files, each of which is one or an archive of many. What is wrong with a file is thrown where it is
/// loaded.
std::vector<ProofSource> proofs_in(const std::vector<std::string>& files);

}  // namespace tessera::cli
