#pragma once

#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {

inline constexpr std::string_view renewal_format = "tessera renewal";
inline constexpr std::uint64_t max_renewal_file_bytes = max_key_file_bytes + max_proof_file_bytes;

/// What a renewal file holds.
struct StoredRenewal {
  Digest old_key{};               // of the key that is renewed: to say so if another one is used
  std::vector<std::uint8_t> key;  // the new key's canonical bytes
  std::vector<std::uint8_t> payload;
};

/// The content of a file of format renewal_format that may come from anyone, the key not decoded; throws InputError.
StoredRenewal read_renewal(const DatasetFile& file);

}  // namespace tessera
