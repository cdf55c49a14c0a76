#include <gtest/gtest.h>

#include <cmath>

#include "cluster/thread_communicator.hpp"
#include "integer_model/comparison.hpp"
#include "integer_model/import.hpp"

#include "../architecture/naive_inference.hpp"
#include "model_files.hpp"
#include "random_model.hpp"

namespace tessera::test {
namespace {

TEST(IntegerPerplexity, equals_a_plain_computation) {
  RandomModel generator(9);
  const Model model = generator.make({2, 36, 3, 144, 300, 48});
  const IntegerModel integers = integer_model(model);
  const std::vector<std::uint32_t> tokens = generator.tokens(48 + 48 + 20, 300);
  double expected = 0;
  for (std::size_t start = 0; start < tokens.size(); start += 48) {
    const auto window = std::span(tokens).subspan(start, std::min<std::size_t>(48, tokens.size() - start));
    // logits of all positions but the last, which predicts nothing
    Trace naive = naive_inference(integers, {{window[0]}, {window.begin() + 1, window.end()}});
    auto& logits = naive[ModelPlan::of(integers.key, 1, window.size() - 1).logits.values];
    for (std::size_t t = 0; t + 1 < window.size(); ++t) {
      long double sum = 0;
      for (std::size_t v = 0; v < 300; ++v) {
        const std::int64_t difference = block_row(logits, 0, v)[t] - block_row(logits, 0, window[t + 1])[t];
        sum += std::exp(static_cast<long double>(difference) / 16777216.0L);
      }
      expected += static_cast<double>(std::log(sum));
    }
  }
  SelfCommunicator self;
  const Perplexity perplexity = integer_perplexity(integers, tokens, self);
  EXPECT_EQ(perplexity.predicted, tokens.size() - 3);
  EXPECT_NEAR(perplexity.total_nll, expected, 1e-9 * expected);
  run_ranks(3, [&](Communicator& comm) {
    EXPECT_NEAR(integer_perplexity(integers, tokens, comm).total_nll, expected, 1e-9 * expected);
  });
}

/// log soft-max.
std::vector<double> log_probabilities(const std::vector<double>& logits) {
  const double maximum = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) {
    sum += std::exp(logit - maximum);
  }
  std::vector<double> result;
  for (const double logit : logits) {
    result.push_back(logit - maximum - std::log(sum));
  }
  return result;
}

TEST(Comparison, equals_a_plain_computation) {
  const ImportedModel imported = import_model(model_folder("odd-40k"));
  const IntegerModel integers = integer_model(imported.model);
  const FloatTransformer original(imported.float_model);
  const auto scale = std::ldexp(1.0, -(integers.key.exponents[scales::residual] + integers.key.exponents[scales::uf]));
  const std::vector<std::uint32_t> tokens =
      sample_sequences(SingleTransformer(imported.float_model), std::vector<std::uint32_t>{0}, 48 + 20).front();
  double divergence = 0;
  std::size_t agreements = 0;
  for (const auto& window : {std::span(tokens).first(48), std::span(tokens).subspan(48)}) {
    Trace naive = naive_inference(integers, {{window[0]}, {window.begin() + 1, window.end()}});
    auto& logits = naive[ModelPlan::of(integers.key, 1, window.size() - 1).logits.values];
    KeyValueCache cache(original.shape(), window.size());
    const std::vector<double> expected = original.logits(original.extend({&cache, 1}, window));
    for (std::size_t t = 0; t + 1 < window.size(); ++t) {
      std::vector<double> found;
      for (std::size_t v = 0; v < 300; ++v) {
        found.push_back(static_cast<double>(block_row(logits, 0, v)[t]) * scale);
      }
      const std::vector<double> q = log_probabilities(found);
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(t * 300);
      const std::vector<double> p = log_probabilities({begin, begin + 300});
      for (std::size_t v = 0; v < 300; ++v) {
        divergence += std::exp(p[v]) * (p[v] - q[v]);
      }
      agreements += std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin() ? 1 : 0;
    }
  }
  const auto check = [&](const Comparison& result) {
    EXPECT_TRUE(result.compared);
    EXPECT_EQ(result.integer.predicted, 66U);
    EXPECT_NEAR(result.divergence, divergence, 1e-9);
    EXPECT_EQ(result.agreements, agreements);
    EXPECT_NEAR(result.original.total_nll, perplexity(original, tokens).total_nll, 1e-9);
  };
  SelfCommunicator self;
  check(compare_models(integers, &original, tokens, self));
  run_ranks(3, [&](Communicator& comm) {
    check(compare_models(integers, comm.rank() == 0 ? &original : nullptr, tokens, comm));
  });
  EXPECT_GT(divergence, 0);
  EXPECT_LT(divergence / 66, 1e-3);
  EXPECT_FALSE(compare_models(integers, nullptr, tokens, self).compared);
}

}  // namespace
}  // namespace tessera::test
