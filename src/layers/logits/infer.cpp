#include "layers/logits/logits.hpp"

#include <algorithm>

#include "arithmetic/distribution_kernels.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

namespace {

/// Logits of some generated tokens, (own vocabulary rows, tokens) row-major.
void record_logits(ChunkedTensor<std::int64_t>& tensor, Range vocabulary, std::span<const std::int64_t> rows,
                   Range generated) {
  const Shape& shape = tensor.shape();
  const Dimension& entries = shape.dimensions()[0];
  // chunks are the first touch of their pages
#pragma omp parallel for schedule(dynamic)
  for (const std::size_t chunk : tensor.held()) {
    const std::size_t token = shape.coordinate(chunk, 1);  // one a chunk
    if (!generated.contains(token)) {
      continue;
    }
    const std::size_t first = shape.coordinate(chunk, 0) << entries.log_chunk;
    // parts of the last chunk may have no row
    const std::size_t count = std::min(entries.chunk(), vocabulary.last - std::min(first, vocabulary.last));
    const auto to = tensor.chunk(chunk);
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = rows[(first - vocabulary.first + i) * generated.size() + token - generated.first];
    }
  }
}

}  // namespace

RawVector<std::int64_t> infer_logits(const InferenceContext& context, const LogitsPlan& logits,
                                     std::span<const std::int32_t> u, Range tokens) {
  const std::size_t d = u.size() / context.capacity;
  const std::size_t n = tokens.size();
  std::vector<std::int32_t> columns(d * n);
  for (std::size_t f = 0; f < d; ++f) {
    std::copy_n(u.data() + f * context.capacity + tokens.first, n, columns.data() + f * n);
  }
  const Range vocabulary = context.owned(logits.logits.dimensions()[0]);
  RawVector<std::int64_t> rows(vocabulary.size() * n);
  multiply(context.parameters[logits.embedding].block(0), vocabulary, ProductInput(columns, d, n),
           [&](std::size_t row, std::span<const std::int64_t> products) {
             const std::int64_t bias =
                 logits.bias ? std::int64_t{context.vector(*logits.bias, 0)[row]} << logits.bias_shift : 0;
             std::ranges::transform(products, rows.begin() + static_cast<std::ptrdiff_t>((row - vocabulary.first) * n),
                                    [bias](std::int64_t product) { return product + bias; });
           });
  return rows;
}

std::vector<std::uint32_t> infer_choices(const InferenceContext& context, const LogitsPlan& logits,
                                         std::span<const std::int32_t> u, Range tokens, std::size_t generation) {
  const Range vocabulary = context.owned(logits.logits.dimensions()[0]);
  const std::size_t n = tokens.size();
  const RawVector<std::int64_t> rows = infer_logits(context, logits, u, tokens);
  if (context.recording()) {
    record_logits((*context.trace)[logits.values], vocabulary, rows, {generation, generation + n});
  }
  if (logits.dense) {
    return infer_dense(context, logits, rows, tokens);
  }
  if (logits.sampled) {
    return infer_samples(context, logits, rows, tokens, generation);
  }
  std::vector<std::int64_t> mine(n, INT64_MIN), best(n);
  take_largest({rows.data(), vocabulary.size(), n, n}, mine.data(), best.data());
  std::vector<std::int64_t> largest = mine;
  context.comm.all_reduce_max(std::span(largest));
  std::vector<std::int64_t> ids(n, INT64_MIN);  // negated: the lowest id wins
  for (std::size_t t = 0; t < n; ++t) {
    if (vocabulary.size() > 0 && mine[t] == largest[t]) {
      ids[t] = -(static_cast<std::int64_t>(vocabulary.first) + best[t]);
    }
  }
  context.comm.all_reduce_max(std::span(ids));
  std::vector<std::uint32_t> chosen;
  for (const std::int64_t id : ids) {
    chosen.push_back(static_cast<std::uint32_t>(-id));
  }
  return chosen;
}

}  // namespace tessera
