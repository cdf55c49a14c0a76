#pragma once

#include <filesystem>
#include <span>
#include <string>

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
  DatasetHash hash_;
};

}  // namespace tessera
