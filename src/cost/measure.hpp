#pragma once

#include <functional>
#include <string>

#include "cost/rates.hpp"

namespace tessera {

/// Proves statements of a few small models in memory with `threads` threads, on every rank of `comm` at once and each
/// for itself, so that ranks of one machine have as much of it as in a job. All ranks must be on one machine. Rates are
/// the same on every rank. `process_bytes`: of this process before anything was measured, which stays in memory.
/// `told` what is measured. Collective.
Rates measure_rates(int threads, double process_bytes, Communicator& comm,
                    const std::function<void(const std::string&)>& told);

}  // namespace tessera
