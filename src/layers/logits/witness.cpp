#include "layers/logits/logits.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const LogitsPlan& plan, const Statement& statement, Communicator& comm) {
  if (plan.sampled) {
    derive_sampled(witness, plan, statement);
    return;
  }
  if (plan.dense) {
    derive_dense(witness, plan, statement, comm);
    return;
  }
  const Dimension& vocabulary = plan.logits.dimensions()[0];
  const ChunkedTensor<std::int64_t>& logits = witness[plan.values];
  ChunkedTensor<std::int64_t>& chosen = witness[plan.token_logits];
  const std::vector<std::uint32_t>& tokens = statement.generated;
  for (const std::size_t chunk : logits.held()) {
    const std::size_t first = plan.logits.coordinate(chunk, 0) << vocabulary.log_chunk;
    const std::size_t g = plan.logits.coordinate(chunk, 1);  // one a chunk
    if (tokens[g] >= first && tokens[g] < first + vocabulary.chunk()) {
      chosen.values()[g] = logits.chunk(chunk)[tokens[g] - first];
    }
  }
  comm.all_reduce_sum(std::span(chosen.values()));
  const auto difference = [&logits, &chosen, &tokens, shape = plan.logits, vocabulary](std::size_t chunk,
                                                                                       std::span<std::int64_t> values) {
    const std::size_t first = shape.coordinate(chunk, 0) << vocabulary.log_chunk;
    const std::size_t g = shape.coordinate(chunk, 1);
    const auto logit = logits.chunk(chunk);
    for (std::size_t x = 0; x < values.size(); ++x) {
      const std::size_t token = first + x;
      values[x] = token < vocabulary.length ? chosen.values()[g] - logit[x] - (token < tokens[g] ? 1 : 0) : 0;
    }
  };
  witness.set_range(plan.difference, logits.ownership(), difference);
}

}  // namespace tessera
