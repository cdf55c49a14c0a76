#pragma once

#include <filesystem>
#include "archive/hdf5.hpp"
#include "plan/trace.hpp"

namespace tessera {

inline constexpr std::string_view trace_format = "tessera trace";

/// What a trace shard belongs to; a resumed run must find all of it equal.
struct TraceHeader {
  Digest model{};  // digest of the verifying key
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::uint64_t prompt_length = 0;
  std::uint64_t generated = 0;
  std::uint64_t past = 0;  // positions of the state that it continues
  Digest state{};          // its root
  std::uint32_t last_token = 0;
  std::vector<std::uint32_t> tokens;  // prompt, generated, filler
};
/// Reads what a trace file belongs to; throws InputError for values that no trace can have.
TraceHeader read_trace_header(const ReadFile& file);

/// Writes this rank's trace shard: header fields at the root and, for each tensor, tensors/<name>/
/// {lengths,log_chunks,presence,ownership} (its shape), chunks (numbers of those held) and values (chunks, values).
Digest save_trace(const std::filesystem::path& path, const Digest& model, const Communicator& comm, const Plan& plan,
                  const Trace& trace, const std::optional<ConversationState>& start = {});
/// The trace of this job as it was stored: the plan's tensors of this rank, its lengths, the state that it continues,
/// the rows' prompt and the filler; the generated tokens may be any ids below n_vocab. Throws InputError unless the
/// file has exactly that.
Trace load_trace(const std::filesystem::path& path, const Digest& model, const Communicator& comm, const Plan& plan,
                 std::span<const std::uint32_t> prompt, std::size_t n_vocab,
                 const std::optional<ConversationState>& start = {});

}  // namespace tessera
