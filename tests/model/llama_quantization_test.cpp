#include <gtest/gtest.h>

#include <cmath>

#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/integer_model.hpp"
#include "model/quantization.hpp"
#include "plan/limits.hpp"

#include "llama_shapes.hpp"
#include "model_files.hpp"
#include "random_model.hpp"

namespace tessera::testing {
namespace {

Calibration even_calibration(double value) {
  Calibration calibration;
  for (const char* kind :
       {"residual", "u1", "u2", "uf", "hq", "hk", "q", "k", "v", "score", "y", "mlp", "gelu", "product", "update"}) {
    calibration.maxima[kind] = value;
  }
  return calibration;
}

class LlamaQuantization : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] ParameterMaxima maxima() const { return parameter_maxima(model_.parameters); }
  void expect_refused(const std::string& part) const {
    expect_input_error([&] { check_bounds(model_, maxima()); }, part);
  }

  ModelShape shape_ = llama_shapes().at(GetParam());
  Model model_ = RandomModel(3).make(shape_);
};

TEST_P(LlamaQuantization, of_floats_gives_their_integers_back) {
  EXPECT_EQ(quantize(float_model_of(model_), model_.exponents), model_.parameters);
}

TEST_P(LlamaQuantization, satisfies_all_conditions_for_extreme_models) {
  int usable = 0;
  for (const double weights : {0.0, 1e-6, 1e-2, 1.0, 30.0, 1000.0}) {
    for (const double activations : {0.0, 1e-3, 1.0, 100.0, 1000.0}) {
      FloatModel model = float_model_of(model_);
      for (const ParameterRow& row : parameter_table(shape_)) {
        if (row.id != embedding) {
          std::ranges::fill(model.parameters[row.id].values(), static_cast<float>(weights));
        }
      }
      Model made = model_;
      const Calibration calibration = even_calibration(activations);
      made.product_bits = choose_product_bits(model, calibration);
      try {
        made.exponents = choose_exponents(model, calibration, made.product_bits);
      } catch (const InputError& error) {
        // Only the residual's fixed scale can stand in the way.
        EXPECT_NE(std::string(error.what()).find("shift_"), std::string::npos) << error.what();
        continue;
      }
      ++usable;
      check_exponents(shape_, made.exponents);
      made.parameters = quantize(model, made.exponents);
      check_bounds(made, parameter_maxima(made.parameters));
    }
  }
  EXPECT_GE(usable, 15);
}

TEST_P(LlamaQuantization, embeddings_have_an_exponent_of_their_own) {
  FloatModel model = float_model_of(model_);
  std::ranges::fill(model.parameters[embedding].values(), 0.01F);
  EXPECT_EQ(choose_exponents(model, even_calibration(1)).embedding, 21);
  std::ranges::fill(model.parameters[embedding].values(), 9.0F);
  const Exponents x = choose_exponents(model, even_calibration(1));
  EXPECT_EQ(x.embedding, 12);
  expect_input_error([&] { quantize(model, x); }, "embedding[0]: expected an absolute value up to 7.99");
}

TEST_P(LlamaQuantization, the_product_is_as_wide_as_its_outliers_need) {
  FloatModel model = float_model_of(model_);
  // rows of W_down have norm sqrt(inner)/4: t needs the exponent log2(4096*norm/20), rounded up
  std::ranges::fill(model.parameters[w_down].values(), 0.25F);
  const double norm = std::sqrt(static_cast<double>(shape_.n_inner)) / 4;
  const int needed = static_cast<int>(std::ceil(std::log2(4096 * norm / 20)));
  for (const std::uint32_t bits : {16U, 20U, 24U}) {
    Calibration calibration = even_calibration(1);
    calibration.maxima["product"] = (std::ldexp(1.0, static_cast<int>(bits) - 1) - 1) / std::ldexp(2.0, needed);
    EXPECT_EQ(choose_product_bits(model, calibration), bits);
    EXPECT_GE(choose_exponents(model, calibration, bits).product, needed);
    calibration.maxima["product"] *= 1.001;
    EXPECT_EQ(choose_product_bits(model, calibration), std::min(bits + 4, 24U));
  }
}

TEST_P(LlamaQuantization, a_residual_stream_beyond_its_width_is_refused) {
  Calibration calibration = even_calibration(1);
  calibration.maxima["residual"] = 1 << 14;
  expect_input_error([&] { choose_exponents(float_model_of(model_), calibration); }, "residual stream: expected");
}

TEST_P(LlamaQuantization, bounds_hold_for_an_ordinary_model) {
  for (const std::uint32_t bits : {16U, 20U, 24U}) {
    const Model model = RandomModel(4).make(shape_, bits);
    EXPECT_NO_THROW(check_bounds(model, parameter_maxima(model.parameters)));
  }
}

TEST_P(LlamaQuantization, a_product_in_float64_must_be_exact) {
  model_.shape.n_inner = std::size_t{1} << 16;
  model_.product_bits = 24;
  ParameterMaxima large = maxima();
  large[w_down] = 32768;
  expect_input_error([&] { check_bounds(model_, large); }, "derived bound: mlp update product (exact in float64)");
}

TEST_P(LlamaQuantization, a_gated_product_must_stay_below_2_to_62) {
  const auto bounds = derived_bounds(shape_, IntegerConstants::of(shape_, 1e-5), model_.exponents, maxima());
  const auto bound = [&](std::string_view name) { return std::ranges::find(bounds, name, &Bound::name)->value; };
  const auto up = static_cast<double>(maxima()[w_up]) * static_cast<double>(shape_.n_embd) * 0x1p15;
  EXPECT_EQ(bound("up product (exact in float64)"), up);
  EXPECT_EQ(bound("product a*U accumulator"), up * 0x1p15 + std::ldexp(1.0, model_.exponents.shift_product() - 1));
  ParameterMaxima large = maxima();
  model_.shape.n_embd = 1 << 14;
  model_.layer_norm_epsilon = 1e-2;
  large[w_up] = std::int64_t{1} << 19;  // weights are 16 bits wide: cannot happen
  expect_input_error([&] { check_bounds(model_, large); }, "derived bound: product a*U accumulator");
}

TEST_P(LlamaQuantization, rotations_count_twice_the_exponent_of_their_table) {
  const auto bounds = derived_bounds(shape_, IntegerConstants::of(shape_, 1e-5), model_.exponents, maxima());
  const auto found = std::ranges::find(bounds, "q rotated accumulator", &Bound::name);
  ASSERT_NE(found, bounds.end());
  const Exponents& x = model_.exponents;
  double side = static_cast<double>(maxima()[wq]) * static_cast<double>(shape_.n_embd) * 0x1p15;
  if (shape_.qkv_bias) {
    side += static_cast<double>(maxima()[bq]) * std::ldexp(1.0, x.bias_q());
  }
  if (shape_.head_norm) {
    side = static_cast<double>(head_norm_numerator(shape_)) * static_cast<double>(maxima()[gamma_q]);
  }
  EXPECT_EQ(found->value, side * 0x1p15 + std::ldexp(1.0, x.shift_rotated_q(shape_.head_norm) - 1));
}

TEST_P(LlamaQuantization, epsilon_too_large_for_a_head) {
  if (!shape_.head_norm) {
    GTEST_SKIP();
  }
  model_.exponents.hq = 16;
  model_.exponents.wq = 20;
  model_.layer_norm_epsilon = 0.9;
  LlamaConstants constants = LlamaConstants::of(shape_, 0.9, model_.exponents, 16);
  EXPECT_GT(constants.epsilon_q, max_epsilon);
  const auto bounds = derived_bounds(shape_, IntegerConstants::of(shape_, 1e-5), model_.exponents, maxima(), constants);
  const auto found = std::ranges::find(bounds, "q norm epsilon", &Bound::name);
  ASSERT_NE(found, bounds.end());
  EXPECT_GT(found->value, found->limit);
  FloatModel model = float_model_of(model_);
  model.layer_norm_epsilon = 0.9;
  Calibration calibration = even_calibration(1e-3);
  const Exponents x = choose_exponents(model, calibration);
  EXPECT_LE(head_epsilon(shape_, 0.9, x.hq), max_epsilon);
}

TEST_P(LlamaQuantization, keys_have_everything) {
  const VerifyingKey key = make_verifying_key(model_);
  EXPECT_EQ(key.product_bits, model_.product_bits);
  EXPECT_EQ(key.rotary_table, model_.rotary_table);
  EXPECT_EQ(key.equalisation, model_.equalisation);
  EXPECT_EQ(key.gelu_table[32768 + 4096], 1497);  // silu(1) = 0.7310586, exponents 12 and 11
  const std::int64_t epsilon = shape_.head_norm ? head_epsilon(shape_, 1e-5, model_.exponents.hq) : 1;
  EXPECT_EQ(key.epsilon_q, epsilon);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LlamaQuantization, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace tessera::testing
