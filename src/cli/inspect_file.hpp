#pragma once

#include <string>

#include "cli/description.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera::cli {

/// What a file of ours is and what is in it, in lines for a person or as a JSON document; with `check` also whether all
/// digests are right. Throws InputError.
std::string describe_file(const std::string& path, bool check, Description::Form form);

/// What a proof file says.
void describe_proof(Description& description, const ProofArchive& proof);

}  // namespace tessera::cli
