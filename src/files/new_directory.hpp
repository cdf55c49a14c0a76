#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace tessera {

/// A directory that takes its target's place, which must be free or empty, when it is complete. Destroyed before that,
/// nothing is left.
class NewDirectory {
 public:
  /// Throws InputError if there is something else or if it cannot be written there.
  explicit NewDirectory(const std::filesystem::path& target);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// A whole file of this name, whose directories are made. Throws JobError.
  void write(const std::string& name, std::span<const std::uint8_t> bytes) const;
  /// Throws JobError.
  void put_in_place();

 private:
  std::filesystem::path target_, temporary_;
};

}  // namespace tessera
