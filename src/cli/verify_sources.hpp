#pragma once

#include <optional>
#include <string>
#include <vector>

#include "archive/isolated.hpp"
#include "cli/verify_judge.hpp"
#include "datasets/gathered_proofs.hpp"

namespace tessera::cli {

/// A proof of an archive of many, read in a confined child process.
ProofSource proof_in(const std::string& archive, const GatheredProof& proof);

/// Begins to read a file that is the only one.
std::optional<ProofBeside> begin_reading(const std::vector<std::string>& files);

/// The proofs in files, each of which is one or an archive of many. What is wrong with a file is thrown where it is
/// loaded. `begun`: of begin_reading() of these files.
std::vector<ProofSource> proofs_in(const std::vector<std::string>& files, std::optional<ProofBeside>&& begun);

}  // namespace tessera::cli
