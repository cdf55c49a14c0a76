#pragma once

#include <functional>
#include <stdexcept>

#include "cluster/communicator.hpp"

namespace tessera {

/// Thrown by a collective call when another rank has stopped, so that nobody waits for it.
class RankStopped : public std::runtime_error {
 public:
  RankStopped() : std::runtime_error("another rank stopped before this collective call") {}
};

/// Runs `body` as ranks 0 .. ranks - 1, one thread each, in this process. A rank that throws wakes all ranks that wait
/// in a collective call (they leave with RankStopped), and so does a rank that returns while others still wait; the
/// first exception that is not RankStopped is rethrown here after all threads ended.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace tessera
