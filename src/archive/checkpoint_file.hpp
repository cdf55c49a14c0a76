#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cluster/communicator.hpp"
#include "protocol/checkpoint.hpp"

namespace tessera {

/// A directory where a proving job leaves what its phases come to, a file each: <phase>.checkpoint. Rank 0 writes them,
/// each under a temporary name first. Files have a digest; they are for the user's own jobs, not for strangers' files.
class CheckpointDirectory {
 public:
  /// Creates the directory; throws InputError, on all ranks, if it cannot be written. `job`: what tells its statement
  /// from others. Phases that end sooner than `every` after what was written last wait for the next. Collective.
  CheckpointDirectory(const std::filesystem::path& directory, const Digest& job, std::chrono::duration<double> every,
                      Communicator& comm);
  /// What an earlier run of the job has left, on every rank. Files that are damaged count for nothing. Throws
  /// InputError, on all ranks, for those of another statement. Collective.
  ProofCheckpoint load();
  /// What was wrong with files, and those that could not be written, since this was asked last: lines for people.
  std::vector<std::string> take_notes();

  /// A phase is finished.
  void save(ProofPhase phase, const ProofCheckpoint& checkpoint);
  /// Saves generated ids before the last one is known: writes only as often as `every` says, never if that is 0.
  void save_unfinished(const ProofCheckpoint& checkpoint);
  /// Removes the files: the proof is in place.
  static void clear(const std::filesystem::path& directory) noexcept;

 private:
  [[nodiscard]] ProofCheckpoint load_files();
  void write_waiting();

  using Clock = std::chrono::steady_clock;
  std::filesystem::path directory_;
  Digest job_;
  std::chrono::duration<double> every_;
  Communicator& comm_;
  Clock::time_point written_ = Clock::now();
  std::map<ProofPhase, std::vector<std::uint8_t>> waiting_;
  std::vector<std::string> notes_;
};

}  // namespace tessera
