#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/verify_judge.hpp"

namespace tessera::cli {

/// Counts what files have come to.
class Tally {
 public:
  void add(ExitCode code) { ++counts_[code]; }
  /// A false proof is what one looks for; then whatever could not be judged.
  [[nodiscard]] ExitCode code() const;
  [[nodiscard]] std::string line() const;
  [[nodiscard]] Json json() const;

 private:
  [[nodiscard]] std::size_t count(ExitCode code) const;
  std::map<ExitCode, std::size_t> counts_;
};

struct EachOptions {
  std::vector<std::string> files;  // of a proof or of many, and directories: find_proof_files()
  std::size_t jobs = 0;            // processes at a time; 0: the cores
  bool json = false;
};

/// Verifies proofs that have nothing to do with each other, each in a process of its own. show() is given the line_of()
/// each, or the json_line() of its json_of(), in the order of the files.
Tally judge_each(const Judge& judge, const EachOptions& options, const std::function<void(const std::string&)>& show);

}  // namespace tessera::cli
