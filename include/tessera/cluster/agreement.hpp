#pragma once

#include <string>
#include <tessera/archive/errors.hpp>
#include <tessera/cluster/communicator.hpp>
#include <tessera/transcript/transcript.hpp>

namespace tessera {

/// Throws InputError on every rank unless all ranks see the same digest of `what`. Collective.
inline void require_agreement(Communicator& comm, const std::string& what, const Digest& mine) {
  const std::vector<Digest> all = comm.all_gather(std::span<const Digest>(&mine, 1));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all.front()) {
      throw InputError(what + ": expected the same content on all ranks, found other content on rank " +
                       std::to_string(rank));
    }
  }
}

}  // namespace tessera
