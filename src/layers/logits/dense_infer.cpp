#include <algorithm>

#include "layers/logits/logits.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

/// Scores of a rank's rows (vocabulary, tokens), and the largest one of each token, of all ranks. Collective.
struct Scores {
  Scores(const DensePlan& dense, std::span<const std::int64_t> rows, std::size_t n, Communicator& comm)
      : plan(dense), tokens(n), scores(rows.begin(), rows.end()), maxima(n, INT64_MIN) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = score_of(scores[i], plan.sampling, plan.widths.shift);
      maxima[i % tokens] = std::max(maxima[i % tokens], scores[i]);
    }
    comm.all_reduce_max(std::span(maxima));
  }
  [[nodiscard]] std::int64_t weight(std::size_t row, std::size_t token) const {
    const std::int64_t distance = maxima[token] - scores[row * tokens + token];
    return distance <= static_cast<std::int64_t>(plan.sampling.cutoff)
               ? weight_table()[static_cast<std::size_t>(distance)]
               : 0;
  }

  const DensePlan& plan;
  std::size_t tokens;
  std::vector<std::int64_t> scores, maxima;
};

}  // namespace

std::vector<std::uint32_t> infer_dense(const InferenceContext& context, const LogitsPlan& logits,
                                       std::span<const std::int64_t> rows, Range tokens) {
  const DensePlan& plan = *logits.dense;
  const Range vocabulary = context.owned(logits.logits.dimensions()[0]);
  const std::size_t n = tokens.size();
  const Scores scores(plan, rows, n, context.comm);
  std::vector<std::int64_t> mine(n);  // sums of this rank's weights
  for (std::size_t row = 0; row < vocabulary.size(); ++row) {
    for (std::size_t t = 0; t < n; ++t) {
      mine[t] += scores.weight(row, t);
    }
  }
  const std::vector<std::int64_t> all = context.comm.all_gather(std::span<const std::int64_t>(mine));
  std::vector<std::int64_t> ids(n, -1);  // the rank's that has the token
  for (std::size_t t = 0; t < n; ++t) {
    std::int64_t sum = 0, before = 0;
    for (std::size_t rank = 0; rank * n < all.size(); ++rank) {
      before = rank == static_cast<std::size_t>(context.comm.rank()) ? sum : before;
      sum += all[rank * n + t];
    }
    const std::uint64_t uniform = uniform_at(plan.sampling.seed, context.past + tokens.first + t + 1);
    std::int64_t left = hit_of(limbs_of(uniform), sum).value() - before;
    if (left < 0 || left >= mine[t]) {
      continue;
    }
    std::size_t row = 0;
    for (; left >= scores.weight(row, t); ++row) {
      left -= scores.weight(row, t);
    }
    ids[t] = static_cast<std::int64_t>(vocabulary.first + row);
  }
  context.comm.all_reduce_max(std::span(ids));
  std::vector<std::uint32_t> chosen;
  for (const std::int64_t id : ids) {
    chosen.push_back(static_cast<std::uint32_t>(id));
  }
  return chosen;
}

}  // namespace tessera
