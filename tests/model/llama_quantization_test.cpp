#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/errors.hpp"
#include "float_model/calibration.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/quantization.hpp"
#include "plan/limits.hpp"

#include "llama_shapes.hpp"
#include "model_files.hpp"
#include "random_model.hpp"

namespace tessera::test {
namespace {

Calibration even_calibration(double value) {
  Calibration calibration;
  calibration.margin = 2;
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
  for (const ParameterId id : {gamma1, gamma2, gammaf}) {  // powers of two: nothing is folded
    std::ranges::fill(model_.parameters[id].values(), std::int16_t{1 << 12});
  }
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
      try {
        made.widths = choose_widths(model, calibration, choose_product_bits(model, calibration));
        made.exponents = choose_exponents(model, calibration, made.widths);
      } catch (const InputError& error) {
        // Only the residual's limits can stand in the way.
        EXPECT_NE(std::string(error.what()).find("shift_"), std::string::npos) << error.what();
        continue;
      }
      ++usable;
      check_exponents(shape_, made.exponents, made.widths);
      made.parameters = quantize(model, made.exponents);
      check_bounds(made, parameter_maxima(made.parameters));
    }
  }
  EXPECT_GE(usable, 15);
}

TEST_P(LlamaQuantization, embeddings_have_an_exponent_of_their_own) {
  FloatModel model = float_model_of(model_);
  std::ranges::fill(model.parameters[embedding].values(), 0.01F);
  EXPECT_EQ(choose_exponents(model, even_calibration(1))[embedding], 21);
  // the stream gives way to them, down to its least exponent
  std::ranges::fill(model.parameters[embedding].values(), 9.0F);
  const Exponents x = choose_exponents(model, even_calibration(1));
  EXPECT_EQ(x[embedding], 11);
  EXPECT_EQ(x[scales::residual], 11);
  EXPECT_EQ(quantize(model, x)[embedding].values()[0], 9 << 11);
  std::ranges::fill(model.parameters[embedding].values(), 1e7F);
  expect_input_error([&] { choose_exponents(model, even_calibration(1)); }, "residual stream: expected");
}

TEST_P(LlamaQuantization, the_product_is_as_wide_as_its_outliers_need) {
  FloatModel model = float_model_of(model_);
  // rows of W_down have norm sqrt(inner)/4: t needs the exponent log2(4096*norm/10), rounded up
  std::ranges::fill(model.parameters[w_down].values(), 0.25F);
  const double norm = std::sqrt(static_cast<double>(shape_.n_inner)) / 4;
  const int needed = static_cast<int>(std::ceil(std::log2(4096 * norm / 10)));
  Calibration calibration = even_calibration(1);
  calibration.maxima["product"] = 32767 / std::ldexp(2.0, needed);
  EXPECT_EQ(choose_product_bits(model, calibration), 16U);
  EXPECT_GE(choose_exponents(model, calibration, {.product_bits = 16})[scales::product], needed);
  calibration.maxima["product"] *= 1.001;
  EXPECT_EQ(choose_product_bits(model, calibration), 28U);
  EXPECT_GE(choose_exponents(model, calibration, {.product_bits = 28})[scales::product], needed);
  EXPECT_LT(choose_exponents(model, calibration, {.product_bits = 16})[scales::product], needed);
}

TEST_P(LlamaQuantization, widths_are_those_whose_rounding_does_not_show) {
  FloatModel model = float_model_of(model_);
  Calibration calibration = even_calibration(1);
  Widths widths = choose_widths(model, calibration, 20);
  EXPECT_EQ(widths.product_bits, 20U);
  EXPECT_EQ(widths.gate_bits, 16U);
  calibration.maxima["mlp"] = 40;
  widths = choose_widths(model, calibration, 20);
  EXPECT_EQ(widths.gate_bits, 18U);
  EXPECT_EQ(choose_exponents(model, calibration, widths)[scales::mlp], 10);
  // half the variance of a logit: |row|^2*4^-exponent/24
  const ParameterId logits = shape_.tied ? embedding : head;
  for (const float weight : {1e-3F, 0.9F}) {
    std::ranges::fill(model.parameters[logits].values(), weight);
    const int exponent = choose_exponents(model, calibration, {.norm_shift = 14})[scales::uf];
    const double added = std::ldexp(static_cast<double>(shape_.n_embd) * weight * weight / 24, -2 * exponent);
    EXPECT_EQ(choose_widths(model, calibration, 20).final_bits, added > 5e-7 ? 24U : 16U) << weight;
  }
}

TEST_P(LlamaQuantization, the_inverse_of_norms_is_as_fine_as_epsilon_allows) {
  const FloatModel model = float_model_of(model_);
  Calibration calibration = even_calibration(1);
  const unsigned bits = IntegerConstants::of(shape_, 1e-5).residual_bits;
  for (const int residual : {12, 10, 4}) {
    calibration.maxima["residual"] = std::ldexp(0.999, static_cast<int>(bits) - 2 - residual);
    const Widths widths = choose_widths(model, calibration, 16);
    const Exponents x = choose_exponents(model, calibration, widths);
    EXPECT_EQ(x[scales::residual], residual);
    const auto epsilon = std::llround(static_cast<double>(shape_.n_embd) * std::ldexp(1e-5, 2 * residual));
    if (widths.norm_shift > 14) {
      EXPECT_LE(IntegerConstants::least_epsilon(shape_, widths), epsilon) << "the model's own";
    }
    if (widths.norm_shift < 18 && !shape_.tied) {
      EXPECT_GT(IntegerConstants::least_epsilon(shape_, {.norm_shift = widths.norm_shift + 1}), epsilon);
    }
  }
}

TEST_P(LlamaQuantization, ranges_are_the_proven_ones_where_those_are_less) {
  FloatModel model = float_model_of(model_);
  for (const ParameterId id : {gamma1, gamma2, gammaf}) {
    std::ranges::fill(model.parameters[id].values(), 0.5F);
  }
  const double bound = std::sqrt(static_cast<double>(shape_.n_embd)) / 2 * (1 + 0x1p-9);
  const int expected = static_cast<int>(std::floor(std::log2(32767 / bound)));
  for (const double seen : {1.9, 100.0}) {
    const Exponents x = choose_exponents(model, even_calibration(seen));
    EXPECT_EQ(x[scales::u1], expected);
    EXPECT_EQ(x[scales::u2], expected);
    EXPECT_EQ(x[scales::uf], expected);
  }
  EXPECT_EQ(choose_exponents(model, even_calibration(0.1))[scales::u1], 17);
}

TEST_P(LlamaQuantization, the_residual_stream_has_the_exponent_of_its_range) {
  Calibration calibration = even_calibration(1);
  const auto chosen = [&](double largest) {
    calibration.maxima["residual"] = largest;
    return choose_exponents(float_model_of(model_), calibration)[scales::residual];
  };
  const unsigned bits =
      IntegerConstants::of(shape_, 1e-5).residual_bits;  // times 5/4: a quarter of the margin's part above 1
  EXPECT_EQ(chosen(1), 12);
  EXPECT_EQ(chosen(std::ldexp(0.799, static_cast<int>(bits) - 1 - 12)), 12);
  EXPECT_EQ(chosen(std::ldexp(0.801, static_cast<int>(bits) - 1 - 12)), 11);
  EXPECT_EQ(chosen(std::ldexp(0.799, static_cast<int>(bits) - 1 + 8)), -8);
  expect_input_error([&] { chosen(std::ldexp(0.801, static_cast<int>(bits) - 1 + 8)); }, "residual stream: expected");
}

TEST_P(LlamaQuantization, bounds_hold_for_an_ordinary_model) {
  for (const Widths& widths : {Widths{}, Widths{20, 17, 20, 16}, Widths{28, 18, 24, 18}}) {
    const Model model = RandomModel(4).make(shape_, widths);
    EXPECT_NO_THROW(check_bounds(model, parameter_maxima(model.parameters)));
  }
}

TEST_P(LlamaQuantization, the_widest_product_has_room) {
  ModelShape shape = shape_;
  shape.n_inner = std::size_t{1} << 16;
  ParameterMaxima large = maxima();
  large[w_down] = 32768;
  ModelConstants llama;
  llama.widths.product_bits = 28;
  const auto bounds = derived_bounds(shape, IntegerConstants::of(shape, 1e-5), model_.exponents, large, llama);
  const auto found = std::ranges::find(bounds, "mlp update accumulator", &Bound::name);
  ASSERT_NE(found, bounds.end());
  const Exponents& x = model_.exponents;
  EXPECT_EQ(found->value, 0x1p58 + std::ldexp(1.0, (x[w_down] + x[scales::product] - x[scales::residual]) - 1));
  EXPECT_LT(found->value, found->limit);
}

TEST_P(LlamaQuantization, logits_are_bound_by_the_sums_of_their_rows) {
  ModelShape shape = shape_;
  shape.n_layer = 1;
  shape.n_embd = 1024;
  Model model = RandomModel(4).make(shape, {.final_bits = 24});
  const std::span<std::int16_t> values = model.parameters[shape.tied ? embedding : head].values();
  std::ranges::fill(values, std::int16_t{16000});
  for (std::size_t i = 0; i < values.size(); i += 2) {
    values[i] = i % shape.n_embd == 0 ? std::int16_t{INT16_MIN} : std::int16_t{0};
  }
  const auto check = [&] { check_bounds(model, parameter_maxima(model.parameters)); };
  EXPECT_NO_THROW(check());  // though 2^10*2^15*2^23 = 2^48
  std::ranges::fill(values.subspan(shape.n_embd, shape.n_embd / 2), std::int16_t{-16000});
  EXPECT_NO_THROW(check());
  std::ranges::fill(values.subspan(shape.n_embd, shape.n_embd), std::int16_t{-16400});
  expect_input_error(check, "derived bound: logits: expected at most 140737488355327, found 1408");
}

TEST_P(LlamaQuantization, activations_leave_room_for_the_product) {
  Model model = RandomModel(4).make(shape_, {.gate_bits = 18});
  model.exponents[scales::gelu] = 18;  // 2^21 at most
  model.exponents[w_up] = 10;
  std::ranges::fill(model.parameters[w_up].values(), std::int16_t{1});
  EXPECT_NO_THROW(check_bounds(model, parameter_maxima(model.parameters)));
  ++model.exponents[scales::gelu];
  expect_input_error([&] { check_bounds(model, parameter_maxima(model.parameters)); }, "derived bound: activation");
}

TEST_P(LlamaQuantization, a_gated_product_must_stay_below_2_to_62) {
  const auto bounds = derived_bounds(shape_, IntegerConstants::of(shape_, 1e-5), model_.exponents, maxima());
  const auto bound = [&](std::string_view name) { return std::ranges::find(bounds, name, &Bound::name)->value; };
  const auto up = static_cast<double>(maxima()[w_up]) * static_cast<double>(shape_.n_embd) * 0x1p15;
  EXPECT_EQ(bound("up product (exact in float64)"), up);
  const double activation = std::ldexp(1.0, model_.exponents[scales::gelu] - model_.exponents[scales::mlp] + 15);
  const Exponents& x = model_.exponents;
  EXPECT_EQ(bound("product a*U accumulator"),
            up * activation + std::ldexp(1.0, (x[scales::gelu] + x[w_up] + x[scales::u2] - x[scales::product]) - 1));
  ParameterMaxima large = maxima();
  model_.shape.n_embd = 1 << 14;
  model_.layer_norm_epsilon = 1e-2;
  large[w_up] = std::int64_t{1} << 20;  // weights are 16 bits wide: cannot happen
  expect_input_error([&] { check_bounds(model_, large); }, "derived bound: product a*U accumulator");
}

TEST_P(LlamaQuantization, rotations_count_twice_the_exponent_of_their_table) {
  const auto bounds = derived_bounds(shape_, IntegerConstants::of(shape_, 1e-5), model_.exponents, maxima());
  const auto found = std::ranges::find(bounds, "q rotated accumulator", &Bound::name);
  ASSERT_NE(found, bounds.end());
  const Exponents& x = model_.exponents;
  double side = static_cast<double>(maxima()[wq]) * static_cast<double>(shape_.n_embd) * 0x1p15;
  if (shape_.qkv_bias) {
    side += static_cast<double>(maxima()[bq]) * std::ldexp(1.0, x[wq] + x[scales::u1] - x[bq]);
  }
  if (shape_.head_norm) {
    side =
        static_cast<double>(head_norm_numerator(shape_, HeadNormOf::queries)) * static_cast<double>(maxima()[gamma_q]);
  }
  const int made = shape_.head_norm ? 24 + x[gamma_q] : x[wq] + x[scales::u1];
  EXPECT_EQ(found->value, side * 0x1p15 + std::ldexp(1.0, made + 14 - x[scales::q] - 1));
}

TEST_P(LlamaQuantization, epsilon_too_large_for_a_head) {
  if (!shape_.head_norm) {
    GTEST_SKIP();
  }
  model_.exponents[scales::hq] = 16;
  model_.exponents[wq] = 20;
  model_.layer_norm_epsilon = 0.9;
  ModelConstants constants = ModelConstants::of(shape_, 0.9, model_.exponents, {});
  EXPECT_GT(constants.epsilon_q, max_epsilon);
  const auto bounds = derived_bounds(shape_, IntegerConstants::of(shape_, 1e-5), model_.exponents, maxima(), constants);
  const auto found = std::ranges::find(bounds, "q norm epsilon", &Bound::name);
  ASSERT_NE(found, bounds.end());
  EXPECT_GT(found->value, found->limit);
  FloatModel model = float_model_of(model_);
  model.layer_norm_epsilon = 0.9;
  Calibration calibration = even_calibration(1e-3);
  const Exponents x = choose_exponents(model, calibration);
  EXPECT_LE(head_epsilon(shape_, HeadNormOf::queries, 0.9, x[scales::hq]), max_epsilon);
}

TEST_P(LlamaQuantization, keys_have_everything) {
  const VerifyingKey key = make_verifying_key(model_);
  EXPECT_EQ(key.widths, model_.widths);
  EXPECT_EQ(key.rotary_table, model_.rotary_table);
  EXPECT_EQ(key.equalisation, model_.equalisation);
  EXPECT_EQ(key.gelu_table[32768 + 4096], 1497);  // silu(1) = 0.7310586, exponents 12 and 11
  const std::int64_t epsilon =
      shape_.head_norm ? head_epsilon(shape_, HeadNormOf::queries, 1e-5, model_.exponents[scales::hq]) : 1;
  EXPECT_EQ(key.epsilon_q, epsilon);
}

TEST_P(LlamaQuantization, widths_and_scales_of_keys_have_limits) {
  model_ = RandomModel(4).make(shape_, {20, 17, 24, 16}, 10);
  model_.tokenizer.vocabulary.assign(shape_.n_vocab, "x");
  const VerifyingKey good = make_verifying_key(model_);
  const std::vector<std::uint8_t> bytes = good.encode();
  EXPECT_EQ(VerifyingKey::decode(bytes).encode(), bytes);
  const std::int64_t most = most_activation(shape_, model_.widths);
  EXPECT_EQ(most, 1 << 21);
  struct Case {
    const char* error;
    std::function<void(VerifyingKey&)> change;
  };
  using K = VerifyingKey;
  for (const Case& wrong : std::vector<Case>{
           {"product_bits: expected 16 to 28, found 29", [](K& k) { k.widths.product_bits = 29; }},
           {"product_bits: expected 16 to 28, found 15", [](K& k) { k.widths.product_bits = 15; }},
           {"gate_bits: expected 16 to 18, found 19", [](K& k) { k.widths.gate_bits = 19; }},
           {"activation_table: expected 18 as log2", [](K& k) { k.widths.gate_bits = 18; }},
           {"final_bits: expected 16 to 24, found 25", [](K& k) { k.widths.final_bits = 25; }},
           {"norm_shift: expected 14 to 18, found 19", [](K& k) { k.widths.norm_shift = 19; }},
           {"norm_shift: expected 14 to 18, found 13", [](K& k) { k.widths.norm_shift = 13; }},
           {"residual: expected -8 to 16, found 17", [](K& k) { k.exponents[scales::residual] = 17; }},
           {"residual: expected -8 to 16, found -9", [](K& k) { k.exponents[scales::residual] = -9; }},
           {"mlp: expected below gate_bits = 16, found 16",
            [](K& k) { k.exponents[scales::mlp] = 16, k.widths.gate_bits = 16; }},
           {"gelu: expected 0 to 22, found 23", [](K& k) { k.exponents[scales::gelu] = 23; }},
           {"epsilon: expected at least ",
            [](K& k) { k.epsilon = IntegerConstants::least_epsilon(k.shape, k.widths) - 1; }},
           {"shift_norm of u1: expected 1 to 32, found 33",
            [](K& k) { k.exponents[gamma1] = k.exponents[scales::u1] + 1; }},
           {"shift_norm of uf: expected 1 to 40, found 41",
            [](K& k) { k.exponents[gammaf] = k.exponents[scales::uf] + 9; }},
           {"shift_norm of uf: expected at most 38 with final_bits = 24, found 39",
            [](K& k) { k.exponents[gammaf] = k.exponents[scales::uf] + 7; }},
           {"activation_table: expected -2097152 to 2097152 at 5, found 2097153",
            [&](K& k) { k.gelu_table[5] = static_cast<std::int32_t>(most + 1); }},
           {"activation_table: expected 0 at 65536", [](K& k) { k.gelu_table[1 << 16] = 1; }},
       }) {
    VerifyingKey key = good;
    wrong.change(key);
    expect_input_error([&] { VerifyingKey::decode(key.encode()); }, wrong.error);
  }
  // at their limits
  VerifyingKey key = good;
  key.exponents[gammaf] = key.exponents[scales::uf] + 6;
  key.epsilon = IntegerConstants::least_epsilon(shape_, key.widths);
  key.gelu_table[5] = static_cast<std::int32_t>(-most);
  EXPECT_NO_THROW(VerifyingKey::decode(key.encode()));
  ModelShape large = shape_;
  large.n_embd = 1 << 14;
  EXPECT_EQ(most_activation(large, {}), 1 << 18);
}

TEST_P(LlamaQuantization, epsilon_is_large_enough_for_inverses) {
  for (const std::uint32_t norm_shift : {14U, 16U, 18U}) {
    const Widths widths{.norm_shift = norm_shift};
    Exponents coarse;
    coarse[scales::residual] = -8;
    const IntegerConstants constants = IntegerConstants::of(shape_, 1e-5, coarse, widths);
    EXPECT_EQ(constants.epsilon, IntegerConstants::least_epsilon(shape_, widths));
    EXPECT_EQ(constants.inverse_bits, 31U);
    EXPECT_EQ(IntegerConstants::of(shape_, constants.epsilon - 1, widths).inverse_bits, 32U);
    Exponents fine;
    fine[scales::residual] = 16;
    EXPECT_EQ(IntegerConstants::of(shape_, 1e-5, fine, widths).epsilon,
              std::llround(static_cast<double>(shape_.n_embd) * 1e-5 * 0x1p32));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LlamaQuantization, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace tessera::test
