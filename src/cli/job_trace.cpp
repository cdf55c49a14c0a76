#include "cli/job_trace.hpp"

#include <algorithm>

#include "files/staged_file.hpp"
#include "archive/trace_file.hpp"
#include "protocol/protocol.hpp"

namespace tessera::cli {
namespace {

/// Whose a trace is: the key's, or of a key and how tokens are drawn under it.
Digest owner_of(const VerifyingKey& key, const Statement& statement) {
  const Digest digest = key.digest();
  if (!statement.sampling) {
    return digest;
  }
  Statement drawn;
  drawn.sampling = statement.sampling;
  return statement_seed(digest, drawn);
}

/// The trace of an earlier run of the same job, if every rank has its part of it.
std::optional<Trace> load_parts(const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job,
                                const Statement& statement, Communicator& comm, Progress& progress) {
  enum : std::int64_t { usable, missing, unusable };
  const std::filesystem::path path = trace_path(job.scratch, comm);
  std::optional<Trace> trace;
  std::error_code ignored;
  std::int64_t state = std::filesystem::exists(path, ignored) ? usable : missing;
  std::string reason = path.string() + ": that of another rank is damaged or another job's";
  try {
    if (state == usable) {
      trace = load_trace(path, owner_of(key, statement), comm, plan, prompt_rows(statement), key.shape.n_vocab,
                         statement.start);
    }
  } catch (const InputError& error) {
    state = unusable;
    reason = error.what();
  }
  // ranks that hold traces of different tokens would prove different statements
  std::vector<std::uint32_t> ids;
  if (trace) {
    ids = trace->tokens;
    ids.push_back(trace->last_token);
  }
  const Digest tokens =
      blake2s({reinterpret_cast<const std::uint8_t*>(ids.data()), ids.size() * sizeof(std::uint32_t)});
  const std::vector<Digest> all = comm.all_gather(std::span(&tokens, 1));
  comm.all_reduce_max(std::span(&state, 1));
  if (state == usable && !std::ranges::all_of(all, [&](const Digest& other) { return other == all.front(); })) {
    state = unusable;
  }
  if (state == unusable) {
    progress.note("inference is done again: " + reason);
  }
  return state == usable ? std::move(trace) : std::nullopt;
}

}  // namespace

std::filesystem::path trace_path(const std::string& scratch, const Communicator& comm) {
  return std::filesystem::path(scratch) / ("trace-" + std::to_string(comm.rank()) + ".h5");
}

std::optional<Trace> stored_trace(const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job,
                                  const Statement& statement, Communicator& comm, Progress& progress) {
  if (job.scratch.empty()) {
    return std::nullopt;
  }
  std::error_code error;
  std::filesystem::create_directories(through_links(job.scratch), error);
  if (error) {
    throw InputError("--scratch " + job.scratch + ": cannot be written: " + error.message());
  }
  std::optional<Trace> trace = load_parts(key, plan, job, statement, comm, progress);
  if (trace) {
    progress.note("inference taken from " + job.scratch);
  }
  return trace;
}

void store_trace(const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job, const Statement& statement,
                 const Trace& trace, Communicator& comm, Progress& progress) {
  if (!job.scratch.empty()) {
    progress.begin("writing trace");
    save_trace(trace_path(job.scratch, comm), owner_of(key, statement), comm, plan, trace, statement.start);
    comm.barrier();
  }
}

}  // namespace tessera::cli
