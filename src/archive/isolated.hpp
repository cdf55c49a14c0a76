#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/archive.hpp>

#include "archive/file_image.hpp"
#include "protocol/identified_key.hpp"

namespace tessera {

class Child;

// Files from strangers are parsed in a child process each, with bounded time and memory, which can do nothing else
// (confine()); only plain bytes come back, which are parsed here. A child that dies or takes too long means an unusable
// file: InputError. Where a process cannot be confined nothing is read: JobError.

struct IsolationLimits {
  unsigned seconds = 20;
  std::uint64_t memory = std::uint64_t{1} << 32;  // bytes beyond what this process has
  /// Enough to read all of a file of ours, whatever its size.
  static IsolationLimits for_whole(const std::filesystem::path& path);
};

/// Makes bytes of a file's, in the child.
using ImageReader = std::function<std::vector<std::uint8_t>(std::span<const std::uint8_t> image)>;

/// The bytes that `read` makes of a file, in a child process; its error, or the child's end, becomes an InputError.
/// `prepare` runs there, too, before the child is confined. Not for processes that have threads at work: the child has
/// the calling one only.
std::vector<std::uint8_t> read_isolated(const std::filesystem::path& path, const ImageReader& read,
                                        const IsolationLimits& limits = {}, const std::function<void()>& prepare = {});
/// The bytes that `read` makes of a file's bytes in memory, or of a part of a file, in a confined child process; errors
/// call it `name`.
std::vector<std::uint8_t> read_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image,
                                        const ImageReader& read, const IsolationLimits& limits = {});
std::vector<std::uint8_t> read_isolated(const std::filesystem::path& name, const FilePart& part,
                                        const ImageReader& read, const IsolationLimits& limits = {});

/// What comes back of a proof file, as bytes; InputError for any that encode_proof() does not give.
std::vector<std::uint8_t> encode_proof(const StoredProof& proof);
StoredProof decode_proof(std::span<const std::uint8_t> bytes);

IdentifiedKey load_key_isolated(const std::filesystem::path& path);
StoredProof load_proof_isolated(const std::filesystem::path& path);

/// A proof file that a confined child process reads while the caller does something else.
class ProofBeside {
 public:
  explicit ProofBeside(std::filesystem::path path);
  ~ProofBeside();
  ProofBeside(ProofBeside&& other) noexcept;
  ProofBeside& operator=(ProofBeside&& other) = delete;
  /// Waits for the proof; nothing if it could not be read, for whatever reason: load_proof_isolated() says why.
  std::optional<StoredProof> take();

 private:
  std::filesystem::path path_;
  std::unique_ptr<Child> child_;
};

/// Reads a proof file that is part of another file, in a confined child process; errors call it `name`.
StoredProof load_proof_isolated(const std::filesystem::path& name, const FilePart& part);
/// Read a key or proof from a file's bytes, in a confined child process; errors call it `name`.
IdentifiedKey load_key_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image);
StoredProof load_proof_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image);

}  // namespace tessera
