#pragma once

#include <mutex>

#include "cluster/communicator.hpp"
#include "plan/exceptions.hpp"

namespace tessera {

/// What inference clamps under a key with exceptions: the entries of this rank, until all ranks' are gathered. Each
/// clamped value is listed by one rank.
class ExceptionRecorder {
 public:
  /// `recording`: else values are clamped and nothing is kept, so that there is no limit.
  ExceptionRecorder(const Plan& plan, bool recording);

  /// Adds an entry; may be called by any thread.
  void add(ClampId id, const Exception& entry);
  /// Forgets entries of rows from `length` on.
  void forget(std::size_t length);
  /// Throws RangeError on all ranks if together they have more entries than the key allows. Collective.
  void agree(Communicator& comm) const;
  /// All ranks' entries, sorted. Collective.
  [[nodiscard]] ExceptionLists gather(Communicator& comm) const;

 private:
  [[nodiscard]] std::size_t row_of(std::size_t list, const Exception& entry) const;

  const Plan& plan_;
  bool recording_;
  std::mutex mutex_;
  ExceptionLists lists_;
  ExceptionCounts counts_;  // of all entries: those beyond the limit are counted, not kept
  std::size_t kept_ = 0;
};

}  // namespace tessera
