#pragma once

#include <filesystem>
#include "cluster/communicator.hpp"

namespace tessera {

/// A directory that several ranks fill under a temporary name beside its target. commit() moves the files into place;
/// destroyed before that, nothing is left. All calls are collective.
class StagedDirectory {
 public:
  StagedDirectory(const std::filesystem::path& target, Communicator& comm);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  /// `last`: file moved after all others; its presence says that the directory is complete. Older files whose names
  /// begin with `parts` are removed.
  void commit(std::string_view last, std::string_view parts);

 private:
  std::filesystem::path target_, temporary_;
  Communicator& comm_;
  bool committed_ = false;
};

}  // namespace tessera
