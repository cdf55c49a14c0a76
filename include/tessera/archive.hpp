#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <tessera/statement.hpp>
#include <tessera/verify.hpp>

namespace tessera {

/// What a proof archive says that a verifier uses.
struct StoredProof {
  Statement statement;
  std::vector<std::uint8_t> payload;
  std::array<std::uint8_t, 32> key_digest{};  // of the key that it was made for: to say so if another one is used
};

/// The canonical bytes of a verifying key file. A stranger's file is read by a confined child process; throws
/// InputError naming file and field for anything but a valid key. Forks: not for programs with threads at work.
std::vector<std::uint8_t> read_key(const std::filesystem::path& file);
/// A proof archive, read in the same way.
StoredProof read_proof(const std::filesystem::path& file);

/// read_key() and read_proof() of the bytes of such files, which are read in a confined child process, too; errors call
/// them "key" and "proof".
std::vector<std::uint8_t> read_key(std::span<const std::uint8_t> file);
StoredProof read_proof(std::span<const std::uint8_t> file);

/// Verifies all parts of a conversation in order, of which one alone may be all: accepted only if every part is and
/// each begins where the one before it has ended. The verdict is that of the last part, or of the first that is
/// rejected, whose number the reason then begins with. Throws as verify() does, and InputError if there are no parts.
Verdict verify_conversation(std::span<const std::uint8_t> key, std::span<const StoredProof> parts);

}  // namespace tessera
