#pragma once

#include <string>
#include "base/errors.hpp"
#include "cluster/communicator.hpp"
#include "hash/blake2s.hpp"

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

/// Runs what may fail on one rank alone (a full disk). If it does, every rank throws that error, so that none waits and
/// each cleans up. Collective.
template <class Work>
void fail_together(Communicator& comm, const Work& work) {
  enum : std::int64_t { done, job_error, input_error };
  std::int64_t state = done;
  std::string what;
  try {
    work();
  } catch (const JobError& error) {
    state = job_error;
    what = error.what();
  } catch (const InputError& error) {
    state = input_error;
    what = error.what();
  }
  comm.all_reduce_max(std::span(&state, 1));
  if (state == done) {
    return;
  }
  const std::vector<MessageBytes> all = comm.all_to_all_bytes(
      std::vector<MessageBytes>(static_cast<std::size_t>(comm.size()),
                                {std::as_bytes(std::span(what)).begin(), std::as_bytes(std::span(what)).end()}));
  for (const MessageBytes& message : all) {
    if (!message.empty()) {
      what.assign(reinterpret_cast<const char*>(message.data()), message.size());
      break;
    }
  }
  if (state == input_error) {
    throw InputError(what);
  }
  throw JobError(what);
}

}  // namespace tessera
