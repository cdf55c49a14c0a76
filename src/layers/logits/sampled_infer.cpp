#include <algorithm>
#include <numeric>

#include "layers/logits/logits.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

struct Candidate {
  std::int64_t logit;
  std::int64_t id;
  /// The better one comes first.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  }
};

/// The `count` best of a rank's rows (vocabulary, tokens) for one token, filled up with what is worse than any.
std::vector<Candidate> best_of(std::span<const std::int64_t> rows, Range vocabulary, std::size_t tokens,
                               std::size_t token, std::size_t count) {
  std::vector<Candidate> all;
  all.reserve(std::max(vocabulary.size(), count));
  for (std::size_t row = 0; row < vocabulary.size(); ++row) {
    all.push_back({rows[row * tokens + token], static_cast<std::int64_t>(vocabulary.first + row)});
  }
  all.resize(std::max(all.size(), count), {INT64_MIN, INT64_MAX});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(all.begin(), end - 1, all.end());
  std::sort(all.begin(), end);
  all.resize(count);
  return all;
}

}  // namespace

std::vector<std::uint32_t> infer_samples(const InferenceContext& context, const LogitsPlan& logits,
                                         std::span<const std::int64_t> rows, Range tokens, std::size_t generation) {
  const SampledPlan& plan = *logits.sampled;
  const Range vocabulary = context.owned(logits.logits.dimensions()[0]);
  const std::size_t n = tokens.size();
  const std::size_t k = plan.top_k();
  std::vector<Candidate> mine(n * k);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t t = 0; t < n; ++t) {
    std::ranges::copy(best_of(rows, vocabulary, n, t, k), mine.begin() + static_cast<std::ptrdiff_t>(t * k));
  }
  const std::vector<Candidate> all =
      context.comm.size() == 1 ? mine : context.comm.all_gather(std::span<const Candidate>(mine));
  std::vector<std::uint32_t> chosen;
  for (std::size_t t = 0; t < n; ++t) {
    std::vector<Candidate> best;
    for (std::size_t first = t * k; first < all.size(); first += n * k) {
      best.insert(best.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                  all.begin() + static_cast<std::ptrdiff_t>(first + k));
    }
    std::ranges::sort(best, std::less<>{});
    std::vector<std::int64_t> values;
    for (std::size_t j = 0; j < k; ++j) {
      values.push_back(best[j].logit);
      if (context.recording()) {
        const std::size_t place = plan.place(j, generation + t);
        (*context.trace)[plan.ids].values()[place] = static_cast<std::int32_t>(best[j].id);
        (*context.trace)[plan.logit].values()[place] = best[j].logit;
      }
    }
    const Choice choice = choose(values, plan.sampling, plan.widths.shift, context.past + tokens.first + t + 1);
    chosen.push_back(static_cast<std::uint32_t>(best[choice.chosen].id));
  }
  return chosen;
}

}  // namespace tessera
