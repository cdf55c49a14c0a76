#include "layers/embedding/embedding.hpp"
#include "subprotocols/inference.hpp"

#include <algorithm>

namespace tessera {

void infer(const InferenceContext& context, const EmbeddingPlan& embedding, std::span<const std::uint32_t> ids,
           Batch& batch) {
  const std::size_t n = batch.size;
  const auto tokens = context.parameters[embedding.embedding].block(0);
  const auto places = context.parameters[embedding.position].block(0);
  const std::size_t d = tokens.columns;
  const Range vocabulary = context.owned(embedding.vocabulary);
  const Range positions = context.owned(embedding.positions);
  std::vector<std::int64_t> sum(d * n);  // of the rows that this rank keeps, then of all ranks
  const auto add_row = [&](std::span<const std::int16_t> row, std::size_t token) {
    for (std::size_t f = 0; f < d; ++f) {
      sum[f * n + token] += row[f];
    }
  };
  for (std::size_t t = 0; t < n; ++t) {
    if (vocabulary.contains(ids[t])) {
      add_row(tokens.row(ids[t]), t);
    }
    std::size_t position = context.past + batch.first + t;
    if (context.past > 0) {
      position = std::min(position, embedding.positions.length - 1);
    }
    if (positions.contains(position)) {  // s_hat may exceed n_positions: the rows that do not exist are zero
      add_row(places.row(position), t);
    }
  }
  context.comm.all_reduce_sum(std::span(sum));
  batch.x.assign(sum.begin(), sum.end());
}

}  // namespace tessera
