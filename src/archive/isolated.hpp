#pragma once

#include <filesystem>
#include <functional>

#include <tessera/archive.hpp>

#include "archive/proof_file.hpp"

namespace tessera {

// Files from strangers are parsed by libhdf5, which damaged bytes can crash, hang or lead to foreign files. Each file
// is therefore read in a child process of its own with bounded time and memory, which can do nothing else (confine());
// only plain bytes come back, which are parsed here. A child that dies or takes too long means an unusable file:
// InputError. Where a process cannot be confined nothing is read: JobError.

struct IsolationLimits {
  unsigned seconds = 20;
  std::uint64_t memory = std::uint64_t{1} << 32;  // bytes beyond what this process has
  /// Enough to read all of a file of ours, whatever its size.
  static IsolationLimits for_whole(const std::filesystem::path& path);
};

/// The bytes that `read` returns, which runs in a child process and may open `path` as a ReadFile but nothing else; its
/// error, or the child's end, becomes an InputError.
/// Not for processes that have threads at work: the child has the calling one only.
std::vector<std::uint8_t> read_isolated(const std::filesystem::path& path,
                                        const std::function<std::vector<std::uint8_t>()>& read,
                                        const IsolationLimits& limits = {});
/// The same of a file's bytes in memory: `read` opens `name`, which errors call it.
std::vector<std::uint8_t> read_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image,
                                        const std::function<std::vector<std::uint8_t>()>& read,
                                        const IsolationLimits& limits = {});

/// A part of a file that is a file itself.
struct FilePart {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
/// The same of such a part: `read` opens `name`, which errors call it.
std::vector<std::uint8_t> read_isolated(const std::filesystem::path& name, const FilePart& part,
                                        const std::function<std::vector<std::uint8_t>()>& read,
                                        const IsolationLimits& limits = {});

/// What comes back of a proof file, as bytes; InputError for any that encode_proof() does not give.
std::vector<std::uint8_t> encode_proof(const StoredProof& proof);
StoredProof decode_proof(std::span<const std::uint8_t> bytes);

VerifyingKey load_key_isolated(const std::filesystem::path& path);
StoredProof load_proof_isolated(const std::filesystem::path& path);
/// The same of a proof file that is part of another file; errors call it `name`.
StoredProof load_proof_isolated(const std::filesystem::path& name, const FilePart& part);
/// The same of the bytes of such files; errors call them `name`.
VerifyingKey load_key_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image);
StoredProof load_proof_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image);

}  // namespace tessera
