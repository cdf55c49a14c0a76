#include <algorithm>
#include <cmath>
#include <limits>

#include "model/integer_model.hpp"

namespace tessera {
namespace {

// (vocabulary rows, tokens) logits at a time
constexpr std::size_t scored_at_once = 128;

/// Negative log-likelihood of token `first + i + 1` given the logits of position first + i, summed over `tokens`.
double negative_log_likelihood(IntegerTransformer& transformer, std::span<const std::uint32_t> window, Range tokens,
                               double scale, Communicator& comm) {
  const std::size_t n = tokens.size();
  const std::vector<std::int64_t> logits = transformer.logits(tokens);
  const Range rows = transformer.vocabulary_rows();
  // maxima and logits of the true tokens, which one rank has
  std::vector<std::int64_t> known(2 * n, std::numeric_limits<std::int64_t>::min());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t t = 0; t < n; ++t) {
      known[t] = std::max(known[t], logits[row * n + t]);
    }
  }
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t next = window[tokens.first + t + 1];
    if (rows.contains(next)) {
      known[n + t] = logits[(next - rows.first) * n + t];
    }
  }
  comm.all_reduce_max(known);
  std::vector<double> sums(n, 0.0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t t = 0; t < n; ++t) {
      sums[t] += std::exp(static_cast<double>(logits[row * n + t] - known[t]) * scale);
    }
  }
  const std::vector<double> all = comm.all_gather<double>(sums);
  double total = 0;
  for (std::size_t t = 0; t < n; ++t) {
    double sum = 0;
    for (std::size_t at = t; at < all.size(); at += n) {
      sum += all[at];
    }
    total += std::log(sum) + static_cast<double>(known[t] - known[n + t]) * scale;
  }
  return total;
}

}  // namespace

Perplexity integer_perplexity(const IntegerModel& model, std::span<const std::uint32_t> ids, Communicator& comm,
                              const Progress& progress) {
  const std::size_t context = std::min(model.key.shape.n_positions, ids.size());
  Perplexity perplexity;
  if (context < 2) {  // nothing is predicted
    return perplexity;
  }
  const double scale = std::ldexp(1.0, -(model.key.exponents.residual + model.key.exponents.uf));
  const Gpt2Plan plan = Gpt2Plan::of(model.key, context - 1, 1);
  IntegerTransformer transformer(model, plan, Record::nothing, comm);
  for (std::size_t start = 0; start < ids.size(); start += context) {
    const auto window = ids.subspan(start, std::min(context, ids.size() - start));
    transformer.reset();
    transformer.append(window);
    for (std::size_t first = 0; first + 1 < window.size(); first += scored_at_once) {
      const Range tokens{first, std::min(first + scored_at_once, window.size() - 1)};
      perplexity.total_nll += negative_log_likelihood(transformer, window, tokens, scale, comm);
      perplexity.predicted += tokens.size();
    }
    if (progress) {
      progress(start + window.size(), ids.size());
    }
  }
  return perplexity;
}

}  // namespace tessera
