#include "layers/embedding/embedding.hpp"
#include "subprotocols/inference.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// The sums (features, batch.size) become x; the remainders of this rank's features are recorded.
void round_rows(const InferenceContext& context, const EmbeddingPlan& embedding, const Batch& batch,
                std::span<std::int64_t> sums) {
  const Range features = context.owned(embedding.rows.dimensions()[0]);
  const std::size_t n = batch.size;
  const std::span<std::uint16_t> remainders = row_buffer<std::uint16_t>(n);
  for (std::size_t f = 0; f < sums.size() / n; ++f) {
    for (std::size_t t = 0; t < n; ++t) {
      const Rounded x = rshift(sums[f * n + t], embedding.shift);
      sums[f * n + t] = x.quotient;
      remainders[t] = static_cast<std::uint16_t>(x.remainder);
    }
    if (context.recording() && features.contains(f)) {
      block_row((*context.trace)[embedding.remainder], 0, f).write(batch.first, remainders);
    }
  }
}

}  // namespace

void infer(const InferenceContext& context, const EmbeddingPlan& embedding, std::span<const std::uint32_t> ids,
           Batch& batch) {
  const std::size_t n = batch.size;
  const auto tokens = context.parameters[embedding.embedding].block(0);
  const std::size_t d = tokens.columns;
  const Range vocabulary = context.owned(embedding.vocabulary);
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
  }
  if (embedding.position) {
    const auto places = context.parameters[*embedding.position].block(0);
    const Range positions = context.owned(embedding.positions);
    for (std::size_t t = 0; t < n; ++t) {
      std::size_t position = context.past + batch.first + t;
      if (context.past > 0) {
        position = std::min(position, embedding.positions.length - 1);
      }
      if (positions.contains(position)) {  // filler may stand behind n_positions: the rows that do not exist are zero
        add_row(places.row(position), t);
      }
    }
  }
  context.comm.all_reduce_sum(std::span(sum));
  if (embedding.shift > 0) {
    round_rows(context, embedding, batch, sum);
  }
  batch.x.assign(sum.begin(), sum.end());
}

}  // namespace tessera
