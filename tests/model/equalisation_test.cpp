#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "float_model/calibration.hpp"
#include "integer_model/equalisation.hpp"
#include "float_model/float_model.hpp"
#include "integer_model/quantization.hpp"

#include "llama_shapes.hpp"
#include "model_files.hpp"
#include "random_model.hpp"

namespace tessera::test {
namespace {

class Equalising : public ::testing::TestWithParam<std::size_t> {
 protected:
  Equalising() : shape_(llama_shapes().at(GetParam())), model_(float_model_of(random_.make(shape_))) {}

  [[nodiscard]] std::vector<double> logits() const {
    const FloatTransformer transformer(model_);
    KeyValueCache cache(shape_, tokens_.size());
    return transformer.logits(transformer.extend({&cache, 1}, tokens_));
  }
  [[nodiscard]] Calibration calibrated() const { return calibrate(SingleTransformer(model_), tokens_, 1); }

  /// Powers of -12 to 12 for two channels of five: the median is 0.
  [[nodiscard]] Equalisation random_powers() const {
    Equalisation powers = no_equalisation(shape_);
    std::mt19937_64 engine(7);
    for (auto& [place, values] : powers) {
      for (std::int16_t& value : values) {
        value = static_cast<std::int16_t>(engine() % 5 < 3 ? 0 : static_cast<int>(engine() % 25) - 12);
      }
    }
    return powers;
  }

  void expect_same_function(const std::vector<double>& before) const {
    const std::vector<double> after = logits();
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_NEAR(after[i], before[i], 1e-9) << i;
    }
  }

  ModelShape shape_;
  RandomModel random_{5};
  FloatModel model_;
  std::vector<std::uint32_t> tokens_ = random_.tokens(shape_.n_positions, shape_.n_vocab);
};

TEST_P(Equalising, keeps_what_the_model_computes) {
  const std::vector<double> before = logits();
  const FloatParameters original = model_.parameters;
  for (const auto& [place, powers] : random_powers()) {
    apply_powers(model_, {{place, powers}});
    EXPECT_NE(model_.parameters, original) << place;
    expect_same_function(before);
    apply_powers(model_, inverse({{place, powers}}));
    EXPECT_EQ(model_.parameters, original) << place;
  }
  apply_powers(model_, random_powers());
  expect_same_function(before);
}

TEST_P(Equalising, undoes_outliers) {
  const std::vector<double> before = logits();
  const Exponents without = choose_exponents(model_, calibrated());
  apply_powers(model_, random_powers());
  Calibration calibration = calibrated();
  equalise(model_, calibration);
  expect_same_function(before);
  const Exponents with = choose_exponents(model_, calibration);
  for_each_exponent(shape_, without, [&](std::string_view name, int exponent) {
    for_each_exponent(shape_, with, [&](std::string_view other, int found) {
      if (name == other) {
        EXPECT_NEAR(found, exponent, 3) << name;
      }
    });
  });
}

TEST_P(Equalising, knows_the_maxima_of_what_it_makes) {
  apply_powers(model_, random_powers());
  Calibration predicted = calibrated();
  equalise(model_, predicted);
  const Calibration found = calibrated();
  for (const auto& [kind, maximum] : found.maxima) {
    if (kind == "y") {
      EXPECT_GE(predicted.maxima.at(kind), maximum);
    } else if (kind == "u1" || kind == "u2" || (kind == "uf" && !shape_.tied)) {
      // without the mantissas of the gains
      EXPECT_LE(predicted.maxima.at(kind), std::sqrt(2.0) * maximum) << kind;
      EXPECT_GE(predicted.maxima.at(kind), std::sqrt(0.5) * maximum) << kind;
    } else {
      EXPECT_NEAR(predicted.maxima.at(kind), maximum, 2e-3 * maximum) << kind;  // rounded up before and after
    }
  }
}

TEST_P(Equalising, gives_the_powers_that_make_the_same_parameters) {
  FloatModel other = model_;
  Calibration calibration = calibrated();
  const Equalisation powers = equalise(model_, calibration);
  apply_powers(other, powers);
  EXPECT_EQ(other.parameters, model_.parameters);
  for (const EqualisedPlace& place : equalised_places(shape_)) {
    EXPECT_EQ(powers.find(place.name)->second.size(), place.count);
  }
}

TEST_P(Equalising, channels_without_activations_keep_their_size) {
  Calibration calibration = calibrated();
  for (auto& [place, maxima] : calibration.channels) {
    std::ranges::fill(maxima, 0.0);
  }
  EXPECT_EQ(equalise(model_, calibration), no_equalisation(shape_));
}

TEST_P(Equalising, refuses_what_is_not_the_models) {
  const Equalisation none = no_equalisation(shape_);
  Equalisation powers = none;
  powers["value"].pop_back();
  expect_input_error([&] { apply_powers(model_, powers); }, "equalisation/value: expected ");
  expect_input_error([&] { apply_powers(model_, {{"other", {}}}); }, "equalisation/other");
  powers = none;
  powers["product"][0] = 41;
  expect_input_error([&] { apply_powers(model_, powers); }, "from -40 to 40");
  powers["product"][0] = 40;
  model_.parameters[w_down].values()[0] = std::numeric_limits<float>::max();
  expect_input_error([&] { apply_powers(model_, powers); }, "equalisation: w_down[0]");
}

INSTANTIATE_TEST_SUITE_P(Shapes, Equalising, ::testing::Values(0, 1, 2));

TEST(Equalisation, is_nothing_for_gpt2) { EXPECT_TRUE(no_equalisation({2, 8, 2, 16, 10, 8}).empty()); }

}  // namespace
}  // namespace tessera::test
