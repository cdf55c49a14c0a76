#pragma once

#include "datasets/dataset_file.hpp"

namespace tessera {

inline constexpr std::string_view gathered_format = "tessera proofs";
inline constexpr std::uint64_t max_gathered_proofs = std::uint64_t{1} << 20;
inline constexpr std::uint64_t max_gathered_names = std::uint64_t{1} << 26;  // bytes of all names

/// One of the many proofs of an archive of format gathered_format: a whole proof file, as it was.
struct GatheredProof {
  std::string name;          // a relative path
  std::uint64_t offset = 0;  // of its first byte in the archive
  std::uint64_t bytes = 0;
  friend bool operator==(const GatheredProof&, const GatheredProof&) = default;
};

/// Whether a proof may have this name in an archive: parts of 1 to 255 bytes between slashes, none of them "." or "..",
/// 1024 bytes in all, UTF-8 without control characters.
bool is_gathered_name(const std::string& name);

/// The proofs, in order, of an archive that may come from anyone; throws InputError unless names are different ones
/// that is_gathered_name() allows, and lengths, which are at most max_proof_file_bytes, sum up to all bytes. Only names
/// and lengths are checked against their digests: what is wrong with one proof is that proof's own trouble.
std::vector<GatheredProof> read_gathered(const DatasetFile& file);

}  // namespace tessera
