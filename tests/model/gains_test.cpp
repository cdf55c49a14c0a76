#include <gtest/gtest.h>

#include <cmath>

#include "integer_model/gains.hpp"
#include "integer_model/quantization.hpp"

#include "llama_shapes.hpp"
#include "random_model.hpp"

namespace tessera::test {
namespace {

TEST(SplitGain, is_a_power_of_two_and_a_mantissa) {
  for (const float gain : {1.0F, -1.0F, 0.7F, 0.71F, 1.41F, 1.42F, -3.3F, 1e-3F, 100.0F}) {
    const SplitGain split = split_gain(gain, no_least_power);
    EXPECT_EQ(split.power * split.mantissa, gain);
    EXPECT_EQ(split.power, std::exp2(std::round(std::log2(split.power))));
    EXPECT_GE(std::abs(split.mantissa), std::sqrt(0.5));
    EXPECT_LT(std::abs(split.mantissa), std::sqrt(2.0));
  }
  EXPECT_EQ(split_gain(0, -3).power, 0);
  EXPECT_EQ(split_gain(0, -3).mantissa, 1);
  EXPECT_EQ(split_gain(1e-3F, -3).power, 0.125);
  EXPECT_EQ(split_gain(1e-3F, -3).mantissa, 8 * 1e-3F);
}

class Gains : public ::testing::TestWithParam<std::size_t> {
 protected:
  Gains()
      : shape_(llama_shapes().at(GetParam())),
        integers_(RandomModel(5).make(shape_)),
        model_(float_model_of(integers_)) {}

  /// Mantissas are up to sqrt(2), and int16 is full already.
  void leave_room_for_mantissas() {
    for (const ParameterRow& row : parameter_table(shape_)) {
      if (folded_gain(shape_, row.id)) {
        for (float& value : model_.parameters[row.id].values()) {
          value /= 2;
        }
      }
    }
  }

  /// A gain's power times what reads it: what the two are together in the integers.
  [[nodiscard]] double together(const Parameters& found, const Exponents& x, ParameterId id, ParameterId gain,
                                std::size_t block, std::size_t row, std::size_t column) const {
    const ParameterRow weight = parameter_row(shape_, id);
    const ParameterRow norm = parameter_row(shape_, gain);
    const ParameterExtents extents = weight.extents(shape_);
    const double w = found[id].values()[(block * extents.rows + row) * extents.columns + column];
    const double g = found[gain].values()[block * extents.columns + column];
    return std::ldexp(w, -(x[weight.scale(shape_)])) * weight.divisor(shape_) * std::ldexp(g, -(x[norm.scale(shape_)]));
  }

  ModelShape shape_;
  Model integers_;
  FloatModel model_;
};

/// Rows whose columns take gains in, and a factor of their block besides.
TEST_P(Gains, leave_room_for_factors_of_blocks) {
  leave_room_for_mantissas();
  FloatModel multiplied = model_;
  std::vector<double> factors(shape_.n_layer, 1);
  factors.back() = 0.5;
  model_.factors.blocks[wq] = factors;
  const std::span<float> values = multiplied.parameters[wq].values();
  for (float& value : values.last(values.size() / shape_.n_layer)) {
    value /= 2;
  }
  EXPECT_TRUE(quantize(model_, integers_.exponents)[wq] == quantize(multiplied, integers_.exponents)[wq]);
  EXPECT_EQ(parameter_maxima(model_)[wq], parameter_maxima(multiplied)[wq]);
}

TEST_P(Gains, are_powers_of_two_whose_mantissas_are_in_the_columns) {
  leave_room_for_mantissas();
  // tiny, zero and negative ones too
  model_.parameters[gamma1].values()[0] = 1e-6F;
  model_.parameters[gamma1].values()[1] = 0;
  model_.parameters[gamma2].values()[2] = -0.9F;
  const Exponents& x = integers_.exponents;
  const Parameters found = quantize(model_, x);
  for (const ParameterRow& row : parameter_table(shape_)) {
    const auto gain = folded_gain(shape_, row.id);
    if (!gain) {
      continue;
    }
    EXPECT_TRUE(is_folded_gain(shape_, *gain));
    for (const std::int16_t value : found[*gain].values()) {
      EXPECT_TRUE(value == 0 || (value > 0 && (value & (value - 1)) == 0)) << value;
    }
    const ParameterExtents extents = row.extents(shape_);
    for (std::size_t i = 0; i < extents.count(); ++i) {
      const std::size_t column = i % extents.columns;
      const std::size_t block = i / (extents.rows * extents.columns);
      const double g = model_.parameters[*gain].values()[block * extents.columns + column];
      const double expected = g * model_.parameters[row.id].values()[i];
      const double unit = std::ldexp(std::abs(g) / std::sqrt(0.5), -(x[row.scale(shape_)])) * row.divisor(shape_);
      const std::size_t of_block = i / extents.columns % extents.rows;
      ASSERT_NEAR(together(found, x, row.id, *gain, block, of_block, column), expected,
                  unit / 2 + std::ldexp(1e-9, -10) + (g < 1e-4 ? 1e-6 : 0))
          << row.name << ' ' << i;
    }
  }
}

TEST_P(Gains, that_are_powers_of_two_change_nothing) {
  for (const ParameterId id : {gamma1, gamma2, gammaf}) {
    std::ranges::fill(model_.parameters[id].values(), 0.5F);
  }
  const Parameters found = quantize(model_, integers_.exponents);
  for (const ParameterRow& row : parameter_table(shape_)) {
    if (row.id != gamma1 && row.id != gamma2 && row.id != gammaf) {
      EXPECT_TRUE(found[row.id] == integers_.parameters[row.id]) << row.name;
    }
  }
}

TEST_P(Gains, of_the_final_norm_stay_where_the_head_is_the_embedding) {
  leave_room_for_mantissas();
  EXPECT_EQ(is_folded_gain(shape_, gammaf), !shape_.tied);
  EXPECT_EQ(quantize(model_, integers_.exponents)[gammaf] == integers_.parameters[gammaf], shape_.tied);
}

TEST_P(Gains, maxima_are_those_of_what_is_rounded) {
  leave_room_for_mantissas();
  const ByParameter<double> maxima = parameter_maxima(model_);
  const ParameterMaxima found = parameter_maxima(quantize(model_, integers_.exponents));
  for (const ParameterRow& row : parameter_table(shape_)) {
    EXPECT_NEAR(std::ldexp(maxima[row.id], integers_.exponents[row.scale(integers_.shape)]),
                static_cast<double>(found[row.id]), 0.51)
        << row.name;
  }
}

/// Powers of two cannot take in a factor; what reads them can.
TEST_P(Gains, that_are_folded_have_no_factors) {
  leave_room_for_mantissas();
  if (shape_.tied) {
    return;
  }
  const Parameters plain = quantize(model_, integers_.exponents);
  model_.factors[head] = 0.25;
  Exponents finer = integers_.exponents;
  finer[head] += 2;
  EXPECT_TRUE(quantize(model_, finer)[head] == plain[head]);
  model_.factors[gammaf] = 0.5;
  EXPECT_THROW(quantize(model_, integers_.exponents), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Gains, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace tessera::test
