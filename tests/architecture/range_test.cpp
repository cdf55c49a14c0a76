#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/thread_communicator.hpp"
#include "integer_model/integer_model.hpp"
#include "subprotocols/inference.hpp"

#include "../model/random_model.hpp"
#include "naive_inference.hpp"

namespace tessera::test {
namespace {

/// A model of two blocks whose block 1 is broken by `damage`, run on three ranks under a key without exceptions: every
/// rank must throw the same RangeError, which names all of `words`.
void expect_range_error(const std::function<void(Model&)>& damage, const std::vector<std::string>& words) {
  RandomModel generator(11);
  Model model = generator.make({2, 36, 3, 144, 300, 48});
  damage(model);
  IntegerModel integers = integer_model(model);
  integers.key.exceptions = 0;
  const std::vector<std::uint32_t> prompt = generator.tokens(12, 300);
  std::vector<std::string> messages(3);
  run_ranks(3, [&](Communicator& comm) {
    try {
      infer(integers, prompt, 4, comm);
    } catch (const RangeError& error) {
      messages[static_cast<std::size_t>(comm.rank())] = error.what();
    }
  });
  for (const std::string& message : messages) {
    EXPECT_EQ(message, messages[0]);
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), std::string::npos) << "\"" << message << "\" does not name " << word;
    }
  }
}

/// Clears a bias of both blocks, whose exponent is about to change, and makes one output of block 1 large.
void raise(std::span<std::int16_t> bias, std::size_t output) {
  std::ranges::fill(bias, std::int16_t{0});
  bias[bias.size() / 2 + output] = 32767;
}

const std::vector<std::string> int16_range = {"[-32768, 32767]"};

std::vector<std::string> words(const std::string& tensor, std::vector<std::string> more = int16_range) {
  more.push_back("block 1, " + tensor + ":");
  return more;
}

TEST(Range, layer_norm_outputs) {
  expect_range_error([](Model& m) { raise(m.parameters[beta1].values(), 35), m.exponents[beta1] = 8; },
                     words("layer norm 1"));
  expect_range_error([](Model& m) { raise(m.parameters[beta2].values(), 0), m.exponents[beta2] = 8; },
                     words("layer norm 2"));
  expect_range_error([](Model& m) { raise(m.parameters[betaf].values(), 17), m.exponents[betaf] = 8; },
                     {"final layer norm:", "[-32768, 32767]"});
}

TEST(Range, projections) {
  expect_range_error([](Model& m) { raise(m.parameters[bq].values(), 13), m.exponents[bq] = 10; }, words("q"));
  expect_range_error([](Model& m) { raise(m.parameters[bk].values(), 35), m.exponents[bk] = 10; }, words("k"));
  expect_range_error([](Model& m) { raise(m.parameters[bv].values(), 0), m.exponents[bv] = 10; }, words("v"));
  expect_range_error([](Model& m) { raise(m.parameters[b1].values(), 143), m.exponents[b1] = 10; }, words("MLP z"));
}

TEST(Range, scores) {
  // large queries of one head, and scores that are hardly rounded: keys differ by more than the table has rows
  expect_range_error(
      [](Model& m) {
        std::ranges::fill(m.parameters[bq].values(), std::int16_t{0});
        for (std::size_t place = 24; place < 36; ++place) {
          m.parameters[bq].values()[36 + place] = 20000;
        }
        m.exponents[bq] = m.exponents[scales::score] = 12;
      },
      words("attention score, distance from the largest", {"[0, 131071]"}));
}

TEST(Range, residual_stream) {
  const std::vector<std::string> bounds = {"[-67108864, 67108863]"};
  expect_range_error([](Model& m) { raise(m.parameters[bo].values(), 1), m.exponents[bo] = 0; },
                     words("residual stream after attention", bounds));
  expect_range_error([](Model& m) { raise(m.parameters[b2].values(), 34), m.exponents[b2] = 0; },
                     words("residual stream after MLP", bounds));
}

/// Every rank learns of a violation with the rows that it gathers, long or short, before anybody computes with them.
TEST(Range, a_gathering_ends_where_one_rank_has_left_a_range) {
  for (const std::size_t row_size : {std::size_t{1}, std::size_t{1} << 17}) {
    for (const int wrong : {-1, 0, 2}) {
      std::vector<std::string> messages(3);
      run_ranks(3, [&](Communicator& comm) {
        const Parameters parameters;
        RangeGuard guard;
        SharedBytes gathered;
        const InferenceContext context{parameters, comm, guard, nullptr, 1, 0, &gathered};
        const Dimension rows = Dimension::outer(4);
        if (comm.rank() == wrong) {
          guard.check("q", 40000, int16_bounds);
        }
        const std::vector<std::int16_t> mine(context.owned(rows).size() * row_size,
                                             static_cast<std::int16_t>(comm.rank()));
        try {
          const std::vector<std::int16_t> all = context.gather(rows, row_size, mine);
          std::vector<std::int16_t> expected;
          for (int rank = 0; rank < 3; ++rank) {
            expected.insert(expected.end(), owned_rows(rows, rank, 3).size() * row_size,
                            static_cast<std::int16_t>(rank));
          }
          EXPECT_EQ(all, expected);
        } catch (const RangeError& error) {
          messages[static_cast<std::size_t>(comm.rank())] = error.what();
        }
      });
      for (const std::string& message : messages) {
        EXPECT_EQ(message, wrong < 0 ? "" : "q: value 40000 outside [-32768, 32767] of the quantized model");
      }
    }
  }
}

TEST(Range, the_largest_violation_of_the_first_tensor_is_named) {
  RangeGuard guard;
  SelfCommunicator self;
  guard.enter(3);
  guard.check("q", 32767, Bounds::signed_bits(16));
  EXPECT_NO_THROW(guard.agree(self));
  guard.check("q", 40000, Bounds::signed_bits(16));
  guard.check("q", -50000, Bounds::signed_bits(16));
  guard.check("q", 45000, Bounds::signed_bits(16));
  guard.check("score", 900000, Bounds::signed_bits(16));
  try {
    guard.agree(self);
    FAIL();
  } catch (const RangeError& error) {
    EXPECT_STREQ(error.what(), "block 3, q: value -50000 outside [-32768, 32767] of the quantized model");
  }
}

}  // namespace
}  // namespace tessera::test
