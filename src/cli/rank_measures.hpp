#pragma once

#include <string>
#include <vector>

#include "archive/proof_file.hpp"
#include "cluster/communicator.hpp"
#include "cluster/scope_memory.hpp"

namespace tessera::cli {

/// What every rank measured itself of the scopes in `timings`, which are this rank's own and the same scopes on all
/// ranks; `memory` not yet reduced. The result is the same on every rank. Collective.
std::vector<RankInfo> measures_of_ranks(const std::vector<ScopeTiming>& timings, const ScopeMemory& memory,
                                        Communicator& comm);

/// The machine that this rank runs on.
std::string host_name();
/// The machines of all ranks, by rank. Collective.
std::vector<std::string> hosts_of(Communicator& comm);

}  // namespace tessera::cli
