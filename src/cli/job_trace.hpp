#pragma once

#include "cli/pipeline.hpp"

namespace tessera::cli {

/// The trace that an earlier run of the same job has left below --scratch, if every rank has its part of it; makes the
/// directory. Nothing without --scratch. Throws InputError if it cannot be made. Collective.
std::optional<Trace> stored_trace(const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job,
                                  const Statement& statement, Communicator& comm, Progress& progress);

/// Keeps a trace there. Collective.
void store_trace(const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job, const Statement& statement,
                 const Trace& trace, Communicator& comm, Progress& progress);

}  // namespace tessera::cli
