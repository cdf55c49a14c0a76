#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "cluster/communicator.hpp"
#include "cost/cost.hpp"

namespace tessera {

/// How fast so many ranks of so many threads prove together, with all that they send each other.
struct Rates {
  int ranks = 1;
  int nodes = 1;
  int threads = 1;
  ByPhase seconds{};         // for one unit of a phase, of the rank that has most
  double process_bytes = 0;  // what a process has before any model
};

/// Rates of one machine, or of several that are alike, as a file keeps them.
struct MachineRates {
  std::string machine;  // processor and number of cores
  std::vector<Rates> list;
};

/// The rates of the nearest numbers of ranks, nodes and threads, for another number of threads scaled by it; nothing if
/// there are none.
std::optional<Rates> rates_for(const MachineRates& rates, const JobShape& job);
/// Rates of a core where nothing was measured: for shares of time, not for times.
inline Rates nominal_rates() { return {.seconds = {5e-11, 3e-9, 12e-9, 45e-9, 9e-9, 4e-9, 8e-3}}; }

inline double seconds_of(Phase phase, const JobCost& cost, const Rates& rates) {
  return cost.amounts[std::size_t(phase)] * rates.seconds[std::size_t(phase)];
}
inline double seconds_of(const JobCost& cost, const Rates& rates) {
  return std::inner_product(cost.amounts.begin(), cost.amounts.end(), rates.seconds.begin(), 0.0);
}

/// Proves a statement of a synthetic model, as wide as the smallest published ones and two blocks deep, in memory,
/// twice, on all ranks together with `threads` threads each. `process_bytes`: of this process before. The result is the
/// same on every rank. Collective.
Rates measure_rates(int threads, int nodes, double process_bytes, Communicator& comm);

}  // namespace tessera
