#include <gtest/gtest.h>
#include <tessera/sampling.hpp>

#include <unistd.h>

#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "base/errors.hpp"
#include "plan/sampling.hpp"

namespace tessera::test {
namespace {

TEST(SamplingWeights, are_the_rounded_exponentials) {
  const std::vector<std::int64_t>& weights = weight_table();
  ASSERT_EQ(weights.size(), std::size_t{1} << 17);
  for (std::size_t d = 0; d < 65536; ++d) {
    // no real value lies this near to a tie
    ASSERT_EQ(weights[d], std::llround(std::exp(-static_cast<double>(d) / 4096) * 0x1p22)) << d;
  }
  EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}), 17181964878);
  EXPECT_GT(weights[65300], 0);
  EXPECT_TRUE(std::all_of(weights.begin() + 65301, weights.end(), [](std::int64_t w) { return w == 0; }));
  EXPECT_GT(weights[0], weights[1]);
  EXPECT_TRUE(std::is_sorted(weights.rbegin(), weights.rend()));
}

TEST(SamplingNumbers, are_hashes_of_seed_and_position) {
  Digest seed{};
  std::iota(seed.begin(), seed.end(), std::uint8_t{0});
  EXPECT_EQ(uniform_at(seed, 0), 0x6c600bb2d5b5ULL);
  EXPECT_EQ(uniform_at(seed, 1), 0x91fa6fcb5bd3ULL);
  EXPECT_EQ(uniform_at(seed, 4095), 0x826644f3cc04ULL);
  const auto limbs = limbs_of(0xFEDCBA987654);
  EXPECT_EQ(limbs, (std::array<std::uint64_t, 3>{0x7654, 0xBA98, 0xFEDC}));
}

/// The rules in real numbers, which these logits are far from the edges of.
TEST(SamplingChoice, is_what_the_rules_say) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> logits;
    for (int j = 0; j < 40; ++j) {
      logits.push_back(static_cast<std::int64_t>(random() % 5'000'000) - 2'500'000);  // exponent 20
    }
    std::ranges::sort(logits, std::greater<>{});
    SamplingParameters parameters{0.5 + 0.1 * (round % 10), 40, 0.5 + 0.05 * (round % 11), 0.02 * (round % 5)};
    Sampling sampling = make_sampling(parameters);
    sampling.seed.fill(static_cast<std::uint8_t>(round));
    const Choice choice = choose(logits, sampling, 20, 9);
    std::vector<double> weights;
    for (const std::int64_t logit : logits) {
      const double weight = std::exp(static_cast<double>(logit - logits[0]) * 0x1p-20 / parameters.temperature);
      weights.push_back(weight >= parameters.min_p ? weight : 0);
    }
    double kept = 0;
    std::size_t count = 0;
    for (const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
         count < weights.size() && weights[count] > 0 && kept < parameters.top_p * all; ++count) {
      kept += weights[count];
    }
    EXPECT_NEAR(static_cast<double>(choice.kept), static_cast<double>(count), 1);
    double hit = static_cast<double>(uniform_at(sampling.seed, 9)) * 0x1p-48 * kept;
    std::size_t chosen = 0;
    while (chosen + 1 < count && hit >= weights[chosen]) {
      hit -= weights[chosen++];
    }
    EXPECT_NEAR(static_cast<double>(choice.chosen), static_cast<double>(chosen), 1) << round;
    EXPECT_LT(choice.chosen, choice.kept);
    EXPECT_LE(choice.kept, choice.within);
  }
}

/// Every token is drawn as often as its weight says.
TEST(SamplingChoice, follows_the_weights) {
  const std::vector<std::int64_t> logits{3 << 20, 2 << 20, 2 << 20, 0};
  const Sampling sampling = make_sampling({1, 4, 1, 0});
  std::array<double, 4> counts{};
  constexpr int draws = 20000;
  for (int position = 0; position < draws; ++position) {
    counts[choose(logits, sampling, 20, static_cast<std::uint64_t>(position)).chosen] += 1.0 / draws;
  }
  const double sum = 1 + 2 * std::exp(-1) + std::exp(-3);
  EXPECT_NEAR(counts[0], 1 / sum, 0.015);
  EXPECT_NEAR(counts[1], std::exp(-1) / sum, 0.015);
  EXPECT_NEAR(counts[2], std::exp(-1) / sum, 0.015);
  EXPECT_NEAR(counts[3], std::exp(-3) / sum, 0.01);
}

/// Limb by limb as at once, up to the largest sum.
TEST(SamplingChoice, multiplies_by_limbs) {
  for (const std::int64_t sum : {std::int64_t{1}, std::int64_t{4194304}, std::int64_t{1} << 41}) {
    for (const std::uint64_t uniform :
         {std::uint64_t{0}, std::uint64_t{0x123456789ABC}, (std::uint64_t{1} << 48) - 1}) {
      const UniformHit hit = hit_of(limbs_of(uniform), sum);
      const auto product = static_cast<unsigned __int128>(uniform) * static_cast<std::uint64_t>(sum);
      EXPECT_EQ(hit.value(), static_cast<std::int64_t>(product >> 48));
      EXPECT_LT(hit.value(), sum);
      EXPECT_EQ(hit.remainder[0], static_cast<std::int64_t>(product & 0xFFFF));
    }
  }
}

TEST(SamplingText, says_the_shortest_numbers) {
  const std::string text = "temperature=0.7,top_k=40,top_p=0.95,min_p=0.05";
  EXPECT_EQ(sampling_text(*parse_sampling(text)), text);
  EXPECT_EQ(sampling_text(*parse_sampling("min_p=0,top_p=1.0,temperature=1.00000001")), "temperature=1");
  EXPECT_TRUE(parse_sampling("temperature=1,min_p=0.1")->dense());
  EXPECT_FALSE(parse_sampling("temperature=1,top_k=1")->dense());
  EXPECT_EQ(parse_sampling("temperature=0,top_k=40"), std::nullopt);
  EXPECT_EQ(parse_sampling("temperature=0.7")->inverse_temperature, 5851U);
  EXPECT_EQ(parse_sampling("temperature=0.7,top_k=64,top_p=0.9")->top_p, 58982U);
  EXPECT_EQ(parse_sampling("temperature=0.7,min_p=0.1")->cutoff, 9431U);
  for (std::uint32_t a = 1 << 8; a <= 1 << 17; a += 97) {
    Sampling sampling{a, 5, a % 65536 + 1, a % 65301, {}};
    EXPECT_EQ(*parse_sampling(sampling_text(sampling)), sampling) << sampling_text(sampling);
    const Sampling dense{a, 0, top_p_unit, sampling.cutoff, {}};
    EXPECT_EQ(*parse_sampling(sampling_text(dense)), dense) << sampling_text(dense);
  }
}

/// A locale whose numbers have a comma, made by the C library's own program: machines have none for certain.
class CommaLocale {
 public:
  CommaLocale() {
    const std::string source = (folder_ / "source").string(), made = (folder_ / "made").string();
    std::filesystem::create_directories(made);
    std::ofstream(source) << "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    // it warns, and fails, for the categories that are not there
    (void)!std::system(("localedef -c -i '" + source + "' '" + made + "/comma' >'" + source + ".log' 2>&1").c_str());
    ::setenv("LOCPATH", made.c_str(), 1);
    works_ = std::setlocale(LC_NUMERIC, "comma") != nullptr;
    ::unsetenv("LOCPATH");
  }
  ~CommaLocale() {
    std::setlocale(LC_NUMERIC, "C");
    std::filesystem::remove_all(folder_);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;
  [[nodiscard]] bool works() const { return works_; }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / ("comma" + std::to_string(::getpid()));
  bool works_ = false;
};

TEST(SamplingText, is_the_same_under_every_locale) {
  const std::string text = "temperature=0.7,top_k=40,top_p=0.95,min_p=0.05";
  const Sampling plain = *parse_sampling(text);
  const CommaLocale comma;
  ASSERT_TRUE(comma.works());
  char half[8];
  std::snprintf(half, sizeof half, "%g", 0.5);
  ASSERT_STREQ(half, "0,5");
  EXPECT_EQ(*parse_sampling(text), plain);
  EXPECT_EQ(sampling_text(plain), text);
  EXPECT_EQ(parameters_of(plain).temperature, 0.7);
  EXPECT_THROW((void)parse_sampling("temperature=0,7"), InputError);
  try {
    (void)parse_sampling("temperature=17.5");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "sampling: temperature: expected 0.03125 to 16, found 17.5");
  }
  std::snprintf(half, sizeof half, "%g", 0.5);
  EXPECT_STREQ(half, "0,5");  // the program's own numbers stay as they were
}

TEST(SamplingText, refuses_by_name) {
  const auto reason = [](const std::string& text) -> std::string {
    try {
      (void)parse_sampling(text);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(reason("temperature=17"), "sampling: temperature: expected 0.03125 to 16, found 17");
  EXPECT_EQ(reason("temperature=-1"), "sampling: temperature: expected 0.03125 to 16, found -1");
  EXPECT_EQ(reason("temperature=nan"), "sampling: temperature: expected a number, found \"nan\"");
  EXPECT_EQ(reason("temperature=1,top_k=0"), "sampling: top_k: expected 1 to 1024, found 0");
  EXPECT_EQ(reason("temperature=1,top_k=1.5"), "sampling: top_k: expected 1 to 1024, found 1.5");
  EXPECT_EQ(reason("temperature=1,top_p=0"), "sampling: top_p: expected above 0 up to 1, found 0");
  EXPECT_EQ(reason("temperature=1,top_p=0.9"), "sampling: top_p: expected a top_k beside it, or 1, found 0.9");
  EXPECT_EQ(reason("temperature=1,min_p=2"), "sampling: min_p: expected 0 to 1, found 2");
  EXPECT_EQ(reason("temperature=1,best_of=2"),
            "sampling: expected temperature, top_k, top_p or min_p, found \"best_of\"");
  EXPECT_EQ(reason("top_k=40"), "sampling: expected a temperature, as in temperature=0.7,top_k=40, found \"top_k=40\"");
  EXPECT_EQ(reason(""), "sampling: expected temperature, top_k, top_p or min_p, found \"\"");
}

}  // namespace
}  // namespace tessera::test
