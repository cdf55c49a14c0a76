#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "archive/hdf5.hpp"
#include "datasets/gathered_proofs.hpp"

namespace tessera {

/// Writes an archive of many proofs, a proof file after the other: names/{bytes,lengths}, files/{bytes,lengths}.
/// Destroyed before commit(), nothing is left. Throws as WriteFile does.
class GatheredWriter {
 public:
  /// Names that is_gathered_name() allows, and the bytes of each file: one or more, of max_proof_file_bytes at most.
  GatheredWriter(const std::filesystem::path& path, std::span<const std::string> names,
                 std::span<const std::uint64_t> bytes);
  /// The next file.
  void append(std::span<const std::uint8_t> file);
  Digest commit();

 private:
  WriteFile file_;
  Blake2s hash_;
};

/// What an archive of many proofs that may come from anyone holds, read by a confined child process; nothing of a file
/// of another format. `check`: all its digests, too. Throws InputError as read_isolated() and read_gathered() do.
std::optional<std::vector<GatheredProof>> list_gathered_isolated(const std::filesystem::path& path, bool check = false);

/// The list as bytes, for other processes; InputError for any that encode_gathered() does not give.
std::vector<std::uint8_t> encode_gathered(std::span<const GatheredProof> proofs);
std::vector<GatheredProof> decode_gathered(std::span<const std::uint8_t> bytes);

}  // namespace tessera
