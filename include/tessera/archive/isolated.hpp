#pragma once

#include <filesystem>
#include <tessera/archive/proof_file.hpp>

namespace tessera {

/// What the verifier needs of a proof file.
struct StatedProof {
  Statement statement;
  std::vector<std::uint8_t> payload;
  Digest key_digest{};
};

// Files from strangers are parsed by libhdf5, which damaged bytes can crash, hang or lead to foreign files. Each file
// is therefore read in a child process of its own with bounded time and memory; only plain bytes come back, which are
// parsed here. A child that dies or takes longer than `isolation_seconds` means an unusable file: InputError.

inline constexpr unsigned isolation_seconds = 20;

VerifyingKey load_key_isolated(const std::filesystem::path& path);
StatedProof load_proof_isolated(const std::filesystem::path& path);

}  // namespace tessera
