#pragma once

#include <filesystem>
#include "archive/hdf5.hpp"
#include "datasets/key_archive.hpp"

namespace tessera {

/// Writes a verifying key: `key` (uint8, the canonical byte string, the only thing that is read back) and, under
/// `information/`, readable copies of its fields for h5py users. Throws InputError if the key is not a valid one.
Digest save_key(const std::filesystem::path& path, const VerifyingKey& key);

/// Merges as uint32 (n, 2), left and right id.
void write_merges(WriteFile& file, const std::string& name, const std::vector<Merge>& merges);

/// Throws InputError unless the file holds a valid key.
VerifyingKey load_key(const std::filesystem::path& path);

}  // namespace tessera
