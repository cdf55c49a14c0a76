#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include "cluster/communicator.hpp"
#include <vector>

namespace tessera {

/// Peak resident memory of this process by scope: the kernel's high-water mark (VmHWM), set back wherever a scope
/// begins or ends, so that every scope has its own. Where the kernel does not let a process set it back, the largest
/// sample (VmRSS) of those places, which misses what comes and goes between them; measure() says which. Scopes nest; a
/// scope's peak includes the inner ones'. Costs two short system calls a place. From then on the kernel's own VmHWM and
/// ru_maxrss of the process only cover what followed the last place: process_peak() is the whole truth.
class ScopeMemory {
 public:
  ScopeMemory();
  void begin(std::string_view path);
  /// The innermost scope ends.
  void end();
  /// Every value becomes that of the largest rank, and a sample if one rank samples. Collective; all ranks must have
  /// had the same scopes.
  void reduce(Communicator& comm);
  /// Bytes of a scope that has ended; 0 if there was none.
  [[nodiscard]] std::uint64_t peak(const std::string& path) const;
  /// Bytes over the whole life of the process up to the last place.
  [[nodiscard]] std::uint64_t process_peak() const { return process_peak_; }
  /// What the values are: "high-water mark" or "samples where scopes begin and end".
  [[nodiscard]] std::string measure() const;

 private:
  struct Open {
    std::string path;
    std::uint64_t peak = 0;
  };
  /// Adds what was measured since the last place to the innermost scope. Returns what is resident now.
  std::uint64_t take_mark();

  std::vector<Open> open_;
  std::map<std::string, std::uint64_t> peaks_;
  std::uint64_t process_peak_ = 0;
  bool resets_ = false;
};

}  // namespace tessera
