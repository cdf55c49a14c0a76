#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "base/errors.hpp"
#include "cluster/thread_communicator.hpp"
#include "model/inference.hpp"
#include "plan/witness.hpp"

#include "naive_inference.hpp"
#include "random_model.hpp"
#include "trace_comparison.hpp"

namespace tessera::testing {
namespace {

using Tokens = std::vector<std::uint32_t>;

struct Case {
  const char* name;
  ModelShape shape;
  std::size_t prompt;
  std::size_t generate;
};

// odd: heads of 12, padded features, s_hat above n_positions. tiles: several key tiles, several feature chunks.
// split: e*v does not fit float64 in one product.
const std::vector<Case> cases = {
    {"odd", {2, 36, 3, 144, 300, 48}, 20, 5},         {"odd_beyond_context", {2, 36, 3, 144, 300, 48}, 37, 11},
    {"power_of_two", {2, 32, 4, 128, 256, 64}, 9, 7}, {"straddling_heads", {1, 80, 2, 100, 70, 32}, 10, 3},
    {"tiles", {2, 96, 3, 192, 130, 512}, 140, 4},     {"one_token", {1, 8, 1, 16, 17, 16}, 1, 1},
    {"split", {1, 8, 2, 16, 20, 4096}, 516, 3},
};

void expect_equal(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  for_each_tensor(a, b, [](const std::string& name, const auto& x, const auto& y) {
    EXPECT_TRUE(x.shape() == y.shape()) << name;
    EXPECT_TRUE(x.values() == y.values()) << name;
  });
}

class InferenceCases : public ::testing::TestWithParam<Case> {
 protected:
  InferenceCases() : generator_(7), model_(generator_.make(GetParam().shape)), integers_(model_) {
    prompt_ = generator_.tokens(GetParam().prompt, GetParam().shape.n_vocab);
  }
  RandomModel generator_;
  Model model_;
  IntegerModel integers_;
  Tokens prompt_;
  SelfCommunicator self_;
};

TEST_P(InferenceCases, equals_naive_inference) {
  const Trace trace = run_inference(integers_, prompt_, GetParam().generate, 3, self_);
  const NaiveInference naive(model_, trace.tokens);
  const std::size_t real = GetParam().prompt + GetParam().generate;
  ASSERT_GE(trace.tokens.size(), real);
  EXPECT_TRUE(std::equal(prompt_.begin(), prompt_.end(), trace.tokens.begin()));
  for (std::size_t t = prompt_.size(); t < trace.tokens.size(); ++t) {
    EXPECT_EQ(trace.tokens[t], t < real ? naive.argmax(t - 1) : 3U) << t;
  }
  EXPECT_EQ(trace.prompt_length, prompt_.size());
  EXPECT_EQ(trace.generated, GetParam().generate);
  expect_trace(trace, naive, model_);
}

TEST_P(InferenceCases, one_pass_equals_cached) {
  const Trace cached = run_inference(integers_, prompt_, GetParam().generate, 3, self_);
  const auto generated = std::span(cached.tokens).subspan(prompt_.size(), GetParam().generate);
  expect_equal(cached, run_one_pass(integers_, prompt_, generated, 3, self_));
}

TEST_P(InferenceCases, ranks_hold_parts_of_one_trace) {
  const Trace whole = run_inference(integers_, prompt_, GetParam().generate, 3, self_);
  for (const int ranks : {2, 3, 4}) {
    run_ranks(ranks, [&](Communicator& comm) {
      omp_set_num_threads(1);
      const Model share = part_of(model_, comm.rank(), comm.size());
      const Trace part = run_inference(IntegerModel(share), prompt_, GetParam().generate, 3, comm);
      EXPECT_EQ(part.tokens, whole.tokens);
      for_each_tensor(part, whole, [&](const std::string& name, const auto& mine, const auto& all) {
        for (std::size_t chunk = 0; chunk < all.shape().chunk_count(); ++chunk) {
          const bool replicated = mine.ownership().dimension == Ownership::replicated;
          const int owner = mine.ownership().owner(mine.shape(), chunk, comm.size());
          ASSERT_EQ(mine.holds(chunk), replicated || owner == comm.rank()) << name;
          if (mine.holds(chunk)) {
            EXPECT_TRUE(std::ranges::equal(mine.chunk(chunk), all.chunk(chunk))) << name << ", chunk " << chunk;
          }
        }
      });
    });
  }
}

/// Rows that are not held are an error, not zeros.
TEST(Inference, refuses_the_rows_of_another_rank) {
  RandomModel generator(12);
  const Model model = generator.make({1, 80, 2, 100, 70, 96});
  SelfCommunicator self;
  for (const ParameterId id : {embedding, position, wq, wk, wv, wo, w1, w2}) {
    Model other = model;
    other.parameters[id] = part_of(model, 1, 2).parameters[id];
    EXPECT_THROW(run_inference(IntegerModel(other), generator.tokens(20, 70), 2, 0, self), std::logic_error) << id;
    EXPECT_THROW(ParameterTensors::of(model.shape, other.parameters, 0, 1), std::logic_error) << id;
    EXPECT_NO_THROW(ParameterTensors::of(model.shape, other.parameters, 1, 2)) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, InferenceCases, ::testing::ValuesIn(cases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

/// Runs tokens in batches of the given sizes and returns the logits of all positions, (vocabulary, tokens).
std::vector<std::int64_t> logits_of(const IntegerModel& model, const Tokens& tokens, std::size_t capacity,
                                    std::span<const std::size_t> batches) {
  SelfCommunicator self;
  IntegerTransformer transformer(model, capacity, Record::nothing, 0, self);
  std::size_t first = 0;
  for (const std::size_t size : batches) {
    transformer.append(std::span(tokens).subspan(first, size));
    first += size;
  }
  return transformer.logits({0, first});
}

TEST(Inference, integers_do_not_depend_on_batches_or_capacity) {
  RandomModel generator(5);
  const Model model = generator.make({2, 36, 3, 144, 300, 512});
  const IntegerModel integers(model);
  const Tokens tokens = generator.tokens(300, 300);
  const std::vector<std::size_t> at_once{300};
  const std::vector<std::size_t> pieces{1, 2, 3, 4, 118, 1, 127, 3, 41};
  const auto expected = logits_of(integers, tokens, 300, at_once);
  EXPECT_EQ(logits_of(integers, tokens, 512, pieces), expected);
  EXPECT_EQ(logits_of(integers, tokens, 512, at_once), expected);
}

TEST(Inference, real_rows_do_not_depend_on_what_follows) {
  RandomModel generator(6);
  const Model model = generator.make({2, 36, 3, 144, 300, 512});
  const IntegerModel integers(model);
  const Tokens prompt = generator.tokens(10, 300);
  SelfCommunicator self;
  const Trace shorter = run_inference(integers, prompt, 2, 0, self);   // s_hat 16
  const Trace longer = run_inference(integers, prompt, 140, 5, self);  // s_hat 256, other filler
  ASSERT_EQ(shorter.tokens.size(), 16U);
  ASSERT_EQ(longer.tokens.size(), 256U);
  for (std::size_t t = 0; t < 12; ++t) {
    EXPECT_EQ(shorter.tokens[t], longer.tokens[t]);
    for (std::size_t f = 0; f < 36; ++f) {
      EXPECT_EQ(shorter.x_end.chunk(0)[f * 16 + t], longer.x_end.chunk(0)[f * 256 + t]);
      EXPECT_EQ(shorter.lnf.u_remainder.chunk(0)[f * 16 + t], longer.lnf.u_remainder.chunk(0)[f * 256 + t]);
    }
    EXPECT_EQ(shorter.row_sum.chunk(4)[t], longer.row_sum.chunk(4)[t]);
    EXPECT_EQ(shorter.row_inverse.chunk(4)[t], longer.row_inverse.chunk(4)[t]);
  }
}

TEST(Inference, lowest_of_equal_logits_wins) {
  RandomModel generator(8);
  Model model = generator.make({1, 32, 2, 64, 200, 32});
  std::ranges::fill(model.parameters[embedding].values(), std::int16_t{5});
  const IntegerModel integers(model);
  run_ranks(3, [&](Communicator& comm) {
    const Trace trace = run_inference(integers, Tokens{7, 9}, 3, 1, comm);
    EXPECT_EQ(trace.tokens, (Tokens{7, 9, 0, 0, 0, 1, 1, 1}));
  });
}

TEST(Inference, perplexity_equals_a_plain_computation) {
  RandomModel generator(9);
  const Model model = generator.make({2, 36, 3, 144, 300, 48});
  const IntegerModel integers(model);
  const Tokens tokens = generator.tokens(48 + 48 + 20, 300);
  double expected = 0;
  for (std::size_t start = 0; start < tokens.size(); start += 48) {
    const auto window = std::span(tokens).subspan(start, std::min<std::size_t>(48, tokens.size() - start));
    const NaiveInference naive(model, window);
    const Matrix& logits = naive.last.at("logits");
    for (std::size_t t = 0; t + 1 < window.size(); ++t) {
      long double sum = 0;
      for (const auto& row : logits) {
        sum += std::exp(static_cast<long double>(row[t] - logits[window[t + 1]][t]) / 16777216.0L);
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

TEST(Inference, refuses_bad_statements) {
  RandomModel generator(10);
  const Model model = generator.make({1, 8, 1, 16, 17, 16});
  const IntegerModel integers(model);
  SelfCommunicator self;
  EXPECT_THROW(run_inference(integers, {}, 1, 0, self), std::invalid_argument);
  EXPECT_THROW(run_inference(integers, Tokens{1}, 0, 0, self), std::invalid_argument);
  EXPECT_THROW(run_inference(integers, Tokens{17}, 1, 0, self), std::invalid_argument);
  EXPECT_THROW(run_inference(integers, Tokens{1}, 16, 0, self), std::invalid_argument);
  EXPECT_THROW(run_inference(integers, Tokens{1}, static_cast<std::size_t>(-1), 0, self), std::invalid_argument);
  Model wrong = model;
  wrong.exponents.q = wrong.exponents.wq + wrong.exponents.u1;
  EXPECT_THROW(IntegerModel{wrong}, InputError);
  wrong = model;
  ModelShape narrow = model.shape;
  narrow.n_inner = 15;
  wrong.parameters[w2] = Parameters(narrow)[w2];
  EXPECT_THROW(IntegerModel{wrong}, std::invalid_argument);
}

}  // namespace
}  // namespace tessera::testing
