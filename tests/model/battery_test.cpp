#include <gtest/gtest.h>

#include <omp.h>

#include <set>

#include "float_model/battery.hpp"
#include "float_model/calibration.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

class Battery : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] TokenizerData tokenizer() const { return load_tokenizer(folder_, model_.shape, {}, nullptr); }

  std::filesystem::path folder_ = model_folder(GetParam());
  FloatModel model_ = load_checkpoint(folder_);
};

TEST_P(Battery, is_prompts_of_the_model) {
  const std::vector<TokenSequence> battery = calibration_battery(model_.shape, tokenizer());
  std::set<std::uint32_t> alone;
  for (const TokenSequence& sequence : battery) {
    ASSERT_GE(sequence.size(), 1U);
    ASSERT_LE(sequence.size(), model_.shape.n_positions);
    ASSERT_LT(std::ranges::max(sequence), model_.shape.n_vocab);
    if (sequence.size() == 1) {
      alone.insert(sequence[0]);
    }
  }
  EXPECT_EQ(alone.size(), model_.shape.n_vocab) << "all tokens of a small vocabulary";
  EXPECT_EQ(battery, calibration_battery(model_.shape, tokenizer()));
}

TEST_P(Battery, has_special_tokens_alone_repeated_and_before_text) {
  const TokenizerData data = tokenizer();
  const std::vector<TokenSequence> battery = calibration_battery(model_.shape, data);
  const TokenSequence front = data.prefix.empty() ? TokenSequence{data.end_of_text} : data.prefix;
  const TokenSequence specials = special_tokens(data);
  EXPECT_TRUE(std::ranges::binary_search(specials, data.end_of_text));
  for (const std::uint32_t id : specials) {
    const auto holds = [&](const TokenSequence& sequence) {
      return std::ranges::find(battery, sequence) != battery.end();
    };
    EXPECT_TRUE(holds({id}));
    EXPECT_TRUE(holds(TokenSequence(12, id)));
    TokenSequence behind = front;
    behind.insert(behind.end(), 12, id);
    EXPECT_TRUE(holds(behind));
    const auto before_text = [&](const TokenSequence& s) { return s.size() > 2 && s[0] == id && s[1] != id; };
    EXPECT_TRUE(std::ranges::any_of(battery, before_text)) << id;
  }
}

TEST_P(Battery, widens_the_ranges_of_text) {
  const SingleTransformer transformer(model_);
  const TokenizerData data = tokenizer();
  const std::vector<std::uint32_t> text = sample_calibration_tokens(transformer, data.end_of_text);
  const Calibration plain = calibrate(transformer, text, data.end_of_text);
  const Calibration with = calibrate(transformer, text, data.end_of_text, calibration_battery(model_.shape, data));
  std::size_t wider = 0;
  for (const auto& [kind, maximum] : plain.maxima) {
    EXPECT_GE(with.maxima.at(kind), maximum) << kind;
    wider += with.maxima.at(kind) > maximum ? 1 : 0;
  }
  EXPECT_GE(wider, 1U);
}

/// Float sums depend on their order and maxima on their last bits: what import chooses may depend on neither.
TEST_P(Battery, has_the_same_bits_for_any_number_of_threads) {
  const SingleTransformer transformer(model_);
  const TokenizerData data = tokenizer();
  std::vector<TokenSequence> battery = calibration_battery(model_.shape, data);
  battery.resize(200);
  const int before = omp_get_max_threads();
  std::vector<Calibration> found;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    const std::vector<std::uint32_t> text = sample_calibration_tokens(transformer, data.end_of_text);
    found.push_back(calibrate(transformer, text, data.end_of_text, battery));
    EXPECT_EQ(found.back().maxima, found.front().maxima) << threads;
    EXPECT_EQ(found.back().channels, found.front().channels) << threads;
  }
  omp_set_num_threads(before);
  for (const auto& [kind, maximum] : found.front().maxima) {
    int exponent = 0;
    EXPECT_EQ(std::fmod(std::ldexp(std::frexp(maximum, &exponent), 11), 1.0), 0.0) << kind << ": 11 bits";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Battery, ::testing::Values("odd-40k", "gutenberg-llama-3m", "odd-qwen-60k"),
                         model_test_name);

TEST(SpecialTokens, of_a_large_list_are_spread_evenly) {
  TokenizerData data;
  data.vocabulary.resize(1000);
  data.end_of_text = 999;
  data.prefix = {7};
  for (std::uint32_t id = 100; id < 500; ++id) {
    data.added.push_back(id);
  }
  const TokenSequence ids = special_tokens(data);
  EXPECT_EQ(ids.size(), 64U);
  EXPECT_EQ(ids.front(), 7U);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_GE(ids.back(), 490U);
}

}  // namespace
}  // namespace tessera::test
