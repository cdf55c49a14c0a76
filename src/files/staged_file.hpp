#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "files/descriptor.hpp"

namespace tessera {

/// What is written where a symbolic link stands, whether that is there or not: the path it leads to. Throws InputError
/// for links that lead to each other.
std::filesystem::path through_links(const std::filesystem::path& path);

/// A file that is written under a temporary name beside its target and takes the target's place once it is complete.
/// Destroyed before that, nothing is left.
class StagedFile {
 public:
  /// Creates the temporary file. Throws InputError if the target cannot be written there, JobError if space runs out.
  explicit StagedFile(const std::filesystem::path& target);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  /// What is written in the end: through a symbolic link, what it points to.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  /// Takes room on the disk for the first `end` bytes, and some more. Throws JobError if there is not as much.
  void reserve(std::uint64_t end);
  /// Gives all room back.
  void clear() noexcept;
  /// Cuts the file after `bytes` bytes; fsync, rename over the target, fsync of the directory. Throws JobError.
  void put_in_place(std::uint64_t bytes);

 private:
  std::filesystem::path target_, temporary_;
  Descriptor descriptor_;
  std::uint64_t reserved_ = 0;
};

/// Writes a whole file in this way.
void write_file(const std::filesystem::path& target, std::span<const std::uint8_t> bytes);

}  // namespace tessera
