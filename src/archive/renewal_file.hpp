#pragma once

#include <filesystem>
#include <span>

#include "datasets/renewal_archive.hpp"
#include "protocol/identified_key.hpp"

namespace tessera {

/// A renewal: that a key commits to the same parameters as the one whose digest is given.
struct Renewal {
  Digest old_key{};
  IdentifiedKey key;
  std::vector<std::uint8_t> payload;
};

/// Writes a renewal file: key (uint8, the canonical byte string), payload (uint8), old_key (32 uint8), and under
/// `information/` the new key's digest.
Digest save_renewal(const std::filesystem::path& path, const Renewal& renewal);

/// Reads a renewal file that may come from anyone, in a confined child process (isolated.hpp). Throws InputError naming
/// file and field.
Renewal load_renewal_isolated(const std::filesystem::path& path);
/// Reads a renewal from a file's bytes, in a confined child process; errors call it `name`.
Renewal load_renewal_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image);

}  // namespace tessera
