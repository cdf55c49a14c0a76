#include "layers/logits/logits.hpp"

#include <algorithm>
#include "subprotocols/inference.hpp"

namespace tessera {

std::vector<std::int64_t> infer_logits(const InferenceContext& context, const LogitsPlan& logits,
                                       std::span<const std::int16_t> u, Range tokens) {
  const std::size_t d = u.size() / context.capacity;
  const std::size_t n = tokens.size();
  std::vector<std::int16_t> columns(d * n);
  for (std::size_t f = 0; f < d; ++f) {
    std::copy_n(u.data() + f * context.capacity + tokens.first, n, columns.data() + f * n);
  }
  const Range vocabulary = context.owned(logits.logits.dimensions()[0]);
  std::vector<std::int64_t> rows(vocabulary.size() * n);
  multiply(context.parameters[logits.embedding].block(0), vocabulary, ProductInput(columns, d, n),
           [&](std::size_t row, std::span<const std::int64_t> products) {
             std::ranges::copy(products, rows.begin() + static_cast<std::ptrdiff_t>((row - vocabulary.first) * n));
           });
  return rows;
}

std::uint32_t infer_choice(const InferenceContext& context, const LogitsPlan& logits, std::span<const std::int16_t> u,
                           std::size_t position, std::size_t generation) {
  const Range vocabulary = context.owned(logits.logits.dimensions()[0]);
  const std::vector<std::int64_t> row = infer_logits(context, logits, u, {position, position + 1});
  const auto best = std::ranges::max_element(row);  // the first of equals
  const std::int64_t mine = best == row.end() ? INT64_MIN : *best;
  std::int64_t largest = mine;
  context.comm.all_reduce_max(std::span(&largest, 1));
  std::int64_t id = INT64_MIN;  // negated: the lowest id wins
  if (best != row.end() && mine == largest) {
    id = -(static_cast<std::int64_t>(vocabulary.first) + (best - row.begin()));
  }
  context.comm.all_reduce_max(std::span(&id, 1));
  if (context.recording()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      trace_row((*context.trace)[logits.values], 0, vocabulary.first + i)[generation] = row[i];
    }
  }
  return static_cast<std::uint32_t>(-id);
}

}  // namespace tessera
