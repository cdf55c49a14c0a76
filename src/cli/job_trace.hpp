#pragma once

#include "arithmetic/range_guard.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {

/// Inference of a statement, or what an earlier run of the same job has left of it below --scratch, where it is kept.
/// Throws WrongValue for a value outside its range and for ids that the model does not choose, but OtherToken for those
/// of --expect. Collective.
Trace make_trace(const Model& model, const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job,
                 const Statement& statement, const Past& past, const Generation& generation,
                 RecordingCommunicator& comm, Progress& progress);

/// Throws WrongValue that names the value, unless the key is hiding.
[[noreturn]] void throw_out_of_range(const VerifyingKey& key, const RangeError& error);

}  // namespace tessera::cli
