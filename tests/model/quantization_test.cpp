#include <gtest/gtest.h>

#include <cmath>
#include "base/errors.hpp"
#include "float_model/calibration.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/quantization.hpp"
#include "plan/limits.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

/// One block, two features, everything zero but what a test sets.
FloatModel tiny_model() {
  FloatModel model;
  model.shape = {1, 4, 1, 16, 8, 16};
  model.parameters = FloatParameters(model.shape);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    std::ranges::fill(model.parameters[row.id].values(), 0.25F);
  }
  return model;
}

Calibration unit_calibration() {
  Calibration calibration;
  calibration.margin = 2;
  for (const char* kind : {"residual", "u1", "u2", "uf", "q", "k", "v", "score", "y", "mlp", "gelu", "update"}) {
    calibration.maxima[kind] = 1.0;
  }
  return calibration;
}

TEST(Quantization, rounds_to_nearest_with_ties_up) {
  FloatModel model = tiny_model();
  Exponents exponents = choose_exponents(model, unit_calibration());
  const float unit = std::ldexp(1.0F, -exponents[b1]);
  std::ranges::copy(
      std::vector{0.5F * unit, -0.5F * unit, 1.5F * unit, -1.5F * unit, 0.49F * unit, -0.51F * unit, 2 * unit},
      model.parameters[b1].values().begin());
  const Parameters parameters = quantize(model, exponents);
  EXPECT_EQ(std::vector<std::int16_t>(parameters[b1].values().begin(), parameters[b1].values().begin() + 7),
            (std::vector<std::int16_t>{1, 0, 2, -1, 0, -1, 2}));
}

TEST(Quantization, folds_the_root_of_the_head_size_into_queries_only) {
  const FloatModel model = tiny_model();  // head size 4
  const Exponents x = choose_exponents(model, unit_calibration());
  const Parameters parameters = quantize(model, x);
  EXPECT_EQ(parameters[wq].values()[0], static_cast<int>(std::ldexp(0.125, x[wq])));
  EXPECT_EQ(parameters[bq].values()[0], static_cast<int>(std::ldexp(0.125, x[bq])));
  EXPECT_EQ(parameters[wk].values()[0], static_cast<int>(std::ldexp(0.25, x[wk])));
  EXPECT_EQ(parameter_maxima(model)[wq], 0.125);
}

TEST(Quantization, a_parameter_outside_int16_is_named) {
  FloatModel model = tiny_model();
  const Exponents exponents = choose_exponents(model, unit_calibration());
  model.parameters[embedding].values()[5] = 8.0F;
  expect_input_error([&] { quantize(model, exponents); }, "embedding[5]: expected an absolute value up to 7.99");
  model.parameters[embedding].values()[5] = 7.99F;
  model.parameters[w2].values()[3] = -100.0F;
  expect_input_error([&] { quantize(model, exponents); }, "w2[3]");
}

TEST(Exponents, fill_the_range_without_leaving_it) {
  const FloatModel model = tiny_model();
  Calibration calibration = unit_calibration();
  calibration.maxima["mlp"] = 32767.0 / 2 / 2048;  // with the margin exactly at the bound
  EXPECT_EQ(choose_exponents(model, calibration)[scales::mlp], 11);
  calibration.maxima["mlp"] = std::nextafter(32767.0 / 2 / 2048, 100.0);
  EXPECT_EQ(choose_exponents(model, calibration)[scales::mlp], 10);
}

TEST(Exponents, satisfy_all_conditions_for_extreme_models) {
  for (const double weights : {0.0, 1e-6, 1.0, 30.0, 1000.0}) {
    for (const double activations : {0.0, 1e-3, 1.0, 100.0, 1000.0}) {
      FloatModel model = tiny_model();
      for (const ParameterRow& row : parameter_table(model.shape)) {
        if (row.id != embedding && row.id != position) {
          std::ranges::fill(model.parameters[row.id].values(), static_cast<float>(weights));
        }
      }
      Calibration calibration = unit_calibration();
      for (auto& [kind, maximum] : calibration.maxima) {
        maximum = activations;
      }
      Exponents exponents;
      try {
        exponents = choose_exponents(model, calibration);
      } catch (const InputError& error) {
        // Only the residual's fixed scale can stand in the way.
        EXPECT_NE(std::string(error.what()).find("shift_"), std::string::npos) << error.what();
        continue;
      }
      check_exponents(model.shape, exponents);
      check_bounds(model.shape, IntegerConstants::of(model.shape, 1e-5), exponents,
                   parameter_maxima(quantize(model, exponents)));
    }
  }
}

TEST(Exponents, every_condition_is_checked) {
  const FloatModel model = tiny_model();
  const Exponents good = choose_exponents(model, unit_calibration());
  const auto refused = [&](ScaleId field, int value, const std::string& part) {
    Exponents bad = good;
    bad[field] = value;
    expect_input_error([&] { check_exponents(model.shape, bad); }, part);
  };
  refused(scales::residual, 11, "residual");
  refused(scales::score, 13, "score");
  refused(scales::gelu, good[scales::mlp] + 1, "gelu");
  refused(wq, good[scales::q] - good[scales::u1], "shift_q: expected 1 to 16, found 0");
  refused(wk, good[scales::k] - good[scales::u1] + 17, "shift_k: expected 1 to 16, found 17");
  refused(wv, good[scales::v] - good[scales::u1], "shift_v");
  refused(wo, good[scales::residual] - good[scales::v], "shift_o");
  refused(w1, good[scales::mlp] - good[scales::u2], "shift_1");
  refused(w2, good[scales::residual] - good[scales::gelu], "shift_2");
  refused(scales::score, -20, "score: expected 0 to 12");
  refused(scales::q, good[scales::score] - good[scales::k], "shift_q");
  refused(bq, good[wq] + good[scales::u1] + 1, "bias_q: expected 0 to 46, found -1");
  refused(gamma1, good[scales::u1] + 3, "shift_norm of u1: expected 1 to 32, found 33");
  refused(beta2, good[gamma2] + 31, "bias_norm of beta2");
  refused(b1, 2000000000, "b1: expected -64 to 64");
}

class Bounds : public testing::Test {
 protected:
  Bounds() : model_(tiny_model()), exponents_(choose_exponents(model_, unit_calibration())) {
    parameters_ = quantize(model_, exponents_);
    constants_ = IntegerConstants::of(model_.shape, 1e-5);
  }
  void expect_refused(const std::string& part) const {
    expect_input_error([&] { check_bounds(model_.shape, constants_, exponents_, parameter_maxima(parameters_)); },
                       part);
  }

  FloatModel model_;
  Exponents exponents_;
  Parameters parameters_;
  IntegerConstants constants_;
};

TEST_F(Bounds, hold_for_an_ordinary_model) {
  EXPECT_NO_THROW(check_bounds(model_.shape, constants_, exponents_, parameter_maxima(parameters_)));
}

TEST_F(Bounds, bias_shifted_too_far) {
  exponents_[bq] = exponents_[wq] + exponents_[scales::u1] - 55;
  expect_refused("bias_q: expected 0 to 46, found 55");
}

TEST_F(Bounds, layer_norm_bias_shifted_too_far) {
  exponents_[betaf] = exponents_[gammaf] + normalized_exponent({}) - 50;
  expect_refused("bias_norm of betaf: expected 0 to 46, found 50");
}

TEST_F(Bounds, epsilon_too_small_for_the_inverse) {
  EXPECT_EQ(IntegerConstants::of(model_.shape, 1e-30).inverse_bits, 31U);  // epsilon is not that small
  --constants_.epsilon;
  constants_.inverse_bits = 32;
  expect_refused("derived bound: layer norm inverse bits");
}

TEST_F(Bounds, residual_too_wide) {
  constants_.residual_bits = 32;
  expect_refused("derived bound: layer norm sum of squares");
}

TEST_F(Bounds, logits_too_large) {
  model_.shape.n_embd = 1U << 20U;
  expect_refused("derived bound: ");
}

TEST_F(Bounds, context_too_long) {
  model_.shape.n_positions = 8192;
  expect_refused("derived bound: context n_positions: expected at most 4096, found 8192");
}

}  // namespace
}  // namespace tessera::test
