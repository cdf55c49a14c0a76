#pragma once

#include <filesystem>

#include "datasets/proof_archive.hpp"

namespace tessera {

/// What comes back of a whole proof file, as bytes; InputError for any that encode_archive() does not give. Of ranks
/// every one has a measure for each of the timings.
std::vector<std::uint8_t> encode_archive(const ProofArchive& proof);
ProofArchive decode_archive(std::span<const std::uint8_t> bytes);

/// load_proof() of a stranger's file, in a confined child process (isolated.hpp).
ProofArchive load_archive_isolated(const std::filesystem::path& path);
/// Reads a proof archive from a file's bytes, in a confined child process; errors call it `name`.
ProofArchive load_archive_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image);

}  // namespace tessera
