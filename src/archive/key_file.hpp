#pragma once

#include <filesystem>
#include "plan/key.hpp"

namespace tessera {

inline constexpr std::string_view key_format = "tessera verifying key";

/// Writes a verifying key: `key` (uint8, the canonical byte string, the only thing that is read back) and, under
/// `information/`, readable copies of its fields for h5py users. Throws InputError if the key is not a valid one.
Digest save_key(const std::filesystem::path& path, const VerifyingKey& key);

/// Throws InputError unless the file holds a valid key.
VerifyingKey load_key(const std::filesystem::path& path);

}  // namespace tessera
