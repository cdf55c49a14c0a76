#include <gtest/gtest.h>

#include <cmath>

#include "cluster/thread_communicator.hpp"
#include "model/integer_model.hpp"

#include "../architecture/naive_inference.hpp"
#include "random_model.hpp"

namespace tessera::testing {
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
    auto& logits = naive[Gpt2Plan::of(integers.key, 1, window.size() - 1).logits.values];
    for (std::size_t t = 0; t + 1 < window.size(); ++t) {
      long double sum = 0;
      for (std::size_t v = 0; v < 300; ++v) {
        const std::int64_t difference = trace_row(logits, 0, v)[t] - trace_row(logits, 0, window[t + 1])[t];
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

}  // namespace
}  // namespace tessera::testing
