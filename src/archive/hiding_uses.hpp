#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "hash/blake2s.hpp"

/// \file
/// How many of a hiding key's proofs were begun. Commitments of one secret that share a root share random columns, and
/// so they share a count, wherever they are: it is kept beside the secret, by root, in `<secret>.uses`. In a commitment
/// directory whose secret came with `--secret FILE`, `secret.uses` is a symbolic link to FILE.uses. Beside it the
/// directory has `uses`, the count after its own last proof: a count that falls behind it was put back.
///
/// `<secret>.uses` names its secret by file number and birth, so that copies of both are known for what they are.

namespace tessera {

struct VerifyingKey;

/// A hiding key, as far as its uses are counted.
struct CountedKey {
  Digest digest{}, root{};
  std::uint64_t proofs = 0;
  static CountedKey of(const VerifyingKey& key);
};

/// How many of a key's proofs were begun.
struct UseCount {
  std::uint64_t proofs = 0, used = 0;
  [[nodiscard]] std::uint64_t left() const { return proofs - used; }
};

/// The count of a commitment directory. Throws InputError if one of its two places is missing, damaged, put back, a
/// copy or of another key: a fresh count is never assumed.
UseCount load_uses(const std::filesystem::path& directory, const CountedKey& key);
/// Throws InputError as load_uses() does, or if none is left.
void require_use_left(const std::filesystem::path& directory, const CountedKey& key);
/// Takes one use, locked and on the disk before it returns; a job that dies afterwards has used it up. Throws
/// InputError if none is left or if a count cannot be written.
void reserve_use(const std::filesystem::path& directory, const CountedKey& key);

/// The count of a commitment that is made: 0 only where nothing was ever counted.
class CommitCount {
 public:
  /// `secret`: file of a secret that may have served before; empty: a new one. `target`: the directory that becomes the
  /// commitment. Throws InputError if a count is lost there, or if none can be kept beside the secret.
  CommitCount(std::filesystem::path secret, std::filesystem::path target);
  ~CommitCount();
  CommitCount(const CommitCount&) = delete;
  CommitCount& operator=(const CommitCount&) = delete;
  /// Writes secret and counts into the directory that is put in place of `target` next, and counts the key beside a
  /// secret that was given; whether it had no count before. From then on until this goes nobody takes a use of either.
  /// Throws InputError if the key was counted before, and its count is lost.
  bool write(const std::filesystem::path& staged, const Digest& secret, const CountedKey& key);

 private:
  class Locks;
  std::filesystem::path secret_;  // empty: a new one
  std::filesystem::path target_;
  std::unique_ptr<Locks> locks_;
};

}  // namespace tessera
