#include "plan/passes.hpp"

#include <algorithm>

#include "plan/limits.hpp"
#include "plan/plan.hpp"

namespace tessera {
namespace {

/// log2 of the entries of a chunk: 24 chunks at most as long as a pass may be so long, since more would take the
/// verifier's time. Where the last one is half empty or more, chunks are half as long, of which 36 may be: less of what
/// is committed is padding.
unsigned log_chunk_of(std::size_t length) {
  constexpr std::size_t most_chunks = 24, most_halves = 36;
  unsigned log_chunk = 4;
  while (log_chunk < ceil_log2(max_pass_length) && length > most_chunks << log_chunk) {
    ++log_chunk;
  }
  const unsigned log_half = log_chunk - 1;
  const bool half_empty = ((length - 1) >> log_half) % 2 == 0;
  return half_empty && length <= most_halves << log_half ? log_half : log_chunk;
}

}  // namespace

Passes Passes::of(const PassShape& pass) {
  const std::size_t tokens = std::max<std::size_t>(pass.prompt + pass.generated, 1);
  const unsigned log_asked = pass.pass_length == 0 ? 0 : ceil_log2(pass.pass_length);
  const unsigned log_rows = std::max(log_chunk_of(tokens), log_asked);
  Passes passes;
  passes.rows = Dimension::cut(tokens, log_rows);
  passes.rows.length = passes.rows.filled();
  const unsigned log_queries = pass.pass_length == 0 ? log_rows : log_asked;
  passes.queries = {passes.rows.length, std::min(log_queries, passes.rows.log_chunk)};
  const std::size_t keys = pass.past + passes.rows.length;
  passes.keys = Dimension::cut(keys, std::max(log_chunk_of(pass.past + tokens), log_rows));
  return passes;
}

}  // namespace tessera
