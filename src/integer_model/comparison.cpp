#include "integer_model/comparison.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/distribution_kernels.hpp"

namespace tessera {
namespace {

/// (vocabulary, tokens) logits at a time, which are doubles on the float side.
constexpr std::size_t logits_at_once = std::size_t{1} << 23U;
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

/// Sum over the ranks of each value, in the order of the ranks.
std::vector<double> sum_over_ranks(const std::vector<double>& mine, Communicator& comm) {
  const std::vector<double> all = comm.all_gather<double>(mine);
  std::vector<double> sums(mine.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    sums[i % mine.size()] += all[i];
  }
  return sums;
}

/// What integers of the logits stand for.
struct LogitScale {
  double scale = 0;
  double cap = 0;  // c of c*tanh(x/c); 0: x itself

  /// The difference of two logits.
  [[nodiscard]] double difference(std::int64_t a, std::int64_t b) const {
    const auto capped = [this](std::int64_t logit) { return std::tanh(static_cast<double>(logit) * scale / cap); };
    return cap > 0 ? cap * (capped(a) - capped(b)) : static_cast<double>(a - b) * scale;
  }
};

/// The integer model's distributions at some tokens of a window: every rank knows its rows of the vocabulary, and for
/// each token what follows.
struct IntegerScores {
  Range rows;
  RawVector<std::int64_t> logits;       // (rows, tokens)
  std::vector<std::int64_t> maxima;     // largest logit
  std::vector<std::int64_t> likeliest;  // the lowest id that has it
  std::vector<std::int64_t> targets;    // logit of the next token
  std::vector<double> log_sums;         // log of the sum of exp(logit - maximum), as they are in reals
  LogitScale scale;

  [[nodiscard]] double log_probability(std::size_t row, std::size_t t) const {
    return scale.difference(logits[row * maxima.size() + t], maxima[t]) - log_sums[t];
  }
  [[nodiscard]] double negative_log_likelihood(std::size_t t) const {
    return log_sums[t] + scale.difference(maxima[t], targets[t]);
  }
};

/// Calls body(logits of some tokens, the first of these), by threads that share the tokens: sums have one order.
template <class Body>
void for_tokens(const LogitRows& logits, const Body& body) {
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t run = std::max<std::size_t>(8, (logits.tokens + threads - 1) / threads);  // a cache line or more
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < logits.tokens; first += run) {
    const std::size_t tokens = std::min(run, logits.tokens - first);
    body(LogitRows{logits.values + first, logits.rows, tokens, logits.stride}, first);
  }
}

IntegerScores integer_scores(IntegerTransformer& transformer, std::span<const std::uint32_t> window, Range tokens,
                             const LogitScale& scale, Communicator& comm) {
  const std::size_t n = tokens.size();
  IntegerScores s;
  s.rows = transformer.vocabulary_rows();
  s.logits = transformer.logits(tokens);
  s.scale = scale;
  std::vector<std::int64_t> known(2 * n, none);  // maxima, and logits of the next tokens, which one rank has
  std::vector<std::int64_t> where(n);
  const LogitRows logits{s.logits.data(), s.rows.size(), n, n};
  for_tokens(logits, [&](const LogitRows& some, std::size_t first) {
    take_largest(some, known.data() + first, where.data() + first);
  });
  const std::vector<std::int64_t> mine(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t next = window[tokens.first + t + 1];
    if (s.rows.contains(next)) {
      known[n + t] = s.logits[(next - s.rows.first) * n + t];
    }
  }
  comm.all_reduce_max(known);
  s.maxima.assign(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(n));
  s.targets.assign(known.begin() + static_cast<std::ptrdiff_t>(n), known.end());
  s.likeliest.assign(n, none);
  s.log_sums.assign(n, 0);
  for (std::size_t t = 0; t < n; ++t) {
    if (mine[t] == s.maxima[t] && s.rows.size() > 0) {
      s.likeliest[t] = -(static_cast<std::int64_t>(s.rows.first) + where[t]);
    }
  }
  for_tokens(logits, [&](const LogitRows& some, std::size_t first) {
    if (scale.cap == 0) {
      add_exponentials(some, s.maxima.data() + first, scale.scale, s.log_sums.data() + first);
      return;
    }
    for (std::size_t row = 0; row < some.rows; ++row) {
      for (std::size_t t = 0; t < some.tokens; ++t) {
        const std::int64_t logit = some.values[row * some.stride + t];
        s.log_sums[first + t] += std::exp(scale.difference(logit, s.maxima[first + t]));
      }
    }
  });
  comm.all_reduce_max(s.likeliest);
  s.log_sums = sum_over_ranks(s.log_sums, comm);
  for (std::size_t t = 0; t < n; ++t) {
    s.likeliest[t] = -s.likeliest[t];
    s.log_sums[t] = std::log(s.log_sums[t]);
  }
  return s;
}

/// The float model's logarithms of probabilities (token, vocabulary), from rank 0 to all.
std::vector<double> float_scores(const FloatTransformer* original, std::span<const double> hidden, Communicator& comm) {
  std::vector<double> logits;
  if (original != nullptr) {
    logits = original->logits(hidden);
    const std::size_t vocabulary = original->shape().n_vocab;
    for (auto row = logits.begin(); row != logits.end(); row += static_cast<std::ptrdiff_t>(vocabulary)) {
      const std::span<double> of_token(&*row, vocabulary);
      const double maximum = std::ranges::max(of_token);
      double sum = 0;
      for (const double logit : of_token) {
        sum += std::exp(logit - maximum);
      }
      for (double& logit : of_token) {
        logit -= maximum + std::log(sum);
      }
    }
  }
  return comm.size() == 1 ? logits : comm.all_gather<double>(logits);  // the others have nothing to add
}

void compare_scores(const IntegerScores& integer, const std::vector<double>& original,
                    std::span<const std::uint32_t> next, Communicator& comm, Comparison& result) {
  const std::size_t n = integer.maxima.size();
  const std::size_t vocabulary = original.size() / n;
  std::vector<double> divergence(1);
  for (std::size_t t = 0; t < n; ++t) {
    const std::span<const double> probabilities = std::span(original).subspan(t * vocabulary, vocabulary);
    for (std::size_t row = 0; row < integer.rows.size(); ++row) {
      const double expected = probabilities[integer.rows.first + row];
      divergence[0] += std::exp(expected) * (expected - integer.log_probability(row, t));
    }
    result.original.total_nll -= probabilities[next[t]];
    const auto likeliest = std::ranges::max_element(probabilities) - probabilities.begin();
    result.agreements += likeliest == integer.likeliest[t] ? 1 : 0;
  }
  result.original.predicted += n;
  result.divergence += sum_over_ranks(divergence, comm)[0];
}

/// The logits' matrix has the exponent of the embedding or of a head of its own.
LogitScale logit_scale(const IntegerModel& model) {
  const VerifyingKey& key = model.key;
  const ParameterRow matrix = parameter_row(key.shape, key.shape.tied ? embedding : head);
  return {std::ldexp(1.0, -(key.exponents[matrix.scale(key.shape)] + key.exponents[scales::uf])), model.logit_cap};
}

}  // namespace

Comparison compare_models(const IntegerModel& model, const FloatTransformer* original,
                          std::span<const std::uint32_t> ids, Communicator& comm, const Progress& progress) {
  const ModelShape& shape = model.key.shape;
  const std::size_t context = std::min(shape.n_positions, ids.size());
  std::vector<std::int64_t> compared{original != nullptr ? 1 : 0};
  comm.all_reduce_max(compared);
  Comparison result;
  result.compared = compared[0] != 0;
  if (context < 2) {  // nothing is predicted
    return result;
  }
  const LogitScale scale = logit_scale(model);
  const std::size_t at_once = std::clamp<std::size_t>(logits_at_once / shape.n_vocab, 1, 128);
  const ModelPlan plan = ModelPlan::of(model.key, context - 1, 1, Division::finest(comm.size()));
  IntegerTransformer transformer(model, plan, Record::nothing, comm);
  for (std::size_t start = 0; start < ids.size(); start += context) {
    const auto window = ids.subspan(start, std::min(context, ids.size() - start));
    transformer.reset();
    transformer.append(window);
    std::vector<double> hidden;  // (token, feature)
    if (original != nullptr) {
      KeyValueCache cache(shape, window.size());
      hidden = original->extend({&cache, 1}, window);
    }
    for (std::size_t first = 0; first + 1 < window.size(); first += at_once) {
      const Range tokens{first, std::min(first + at_once, window.size() - 1)};
      const IntegerScores scores = integer_scores(transformer, window, tokens, scale, comm);
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        result.integer.total_nll += scores.negative_log_likelihood(t);
      }
      result.integer.predicted += tokens.size();
      if (result.compared) {
        const std::size_t d = original != nullptr ? shape.n_embd : 0;
        const auto rows = std::span(hidden).subspan(tokens.first * d, tokens.size() * d);
        compare_scores(scores, float_scores(original, rows, comm), window.subspan(first + 1), comm, result);
      }
    }
    if (progress) {
      progress(start + window.size(), ids.size());
    }
  }
  return result;
}

}  // namespace tessera
