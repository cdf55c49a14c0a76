#include <gtest/gtest.h>

#include <cmath>

#include "float_model/calibration.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/equalisation.hpp"
#include "integer_model/import.hpp"
#include "integer_model/integer_model.hpp"

#include "model_files.hpp"
#include "random_model.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

class LlamaImport : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(best_model_folder(GetParam()))) {
      GTEST_SKIP() << "the model is not here: " << best_model_folder(GetParam());
    }
  }

  /// Imported on first use.
  [[nodiscard]] const ImportedModel& imported() const {
    static std::map<std::string, ImportedModel> models;
    if (!models.contains(GetParam())) {
      models.emplace(GetParam(), import_model(best_model_folder(GetParam())));
    }
    return models.at(GetParam());
  }

  [[nodiscard]] Ids sample() const {
    Ids ids = Tokenizer(imported().model.tokenizer).encode(file_bytes(best_model_folder(GetParam()) / "sample.txt"));
    ids.resize(std::min<std::size_t>(ids.size(), 2000));
    return ids;
  }

  /// Perplexity with parameters rounded as in `model`, over that of the checkpoint.
  [[nodiscard]] double rounded_ratio(const Model& model) const {
    FloatModel rounded = float_model_of(model);
    rounded.ropes = imported().float_model.ropes;
    const Ids ids = sample();
    return perplexity(FloatTransformer(rounded), ids).value() /
           perplexity(FloatTransformer(imported().float_model), ids).value();
  }
};

TEST_P(LlamaImport, is_repeatable_and_leaves_the_checkpoint_as_it_is) {
  const ImportedModel again = import_model(best_model_folder(GetParam()));
  EXPECT_EQ(again.model.exponents, imported().model.exponents);
  EXPECT_EQ(again.model.equalisation, imported().model.equalisation);
  EXPECT_EQ(again.model.parameters, imported().model.parameters);
  EXPECT_EQ(again.float_model.parameters, load_checkpoint(best_model_folder(GetParam())).parameters);
}

TEST_P(LlamaImport, choices_of_a_key_give_the_same_parameters) {
  const VerifyingKey key = make_verifying_key(imported().model);
  ImportOptions options;
  options.choices = {key.exponents, key.widths, key.equalisation, key.shape.n_positions};
  const ImportedModel again = import_model(best_model_folder(GetParam()), options);
  EXPECT_EQ(again.model.parameters, imported().model.parameters);
  EXPECT_EQ(again.model.rotary_table, imported().model.rotary_table);
  EXPECT_EQ(again.model.equalisation, imported().model.equalisation);
  EXPECT_TRUE(again.model.calibration.maxima.empty());
  const VerifyingKey same = make_verifying_key(again.model);
  EXPECT_EQ(same.gelu_table, key.gelu_table);
  EXPECT_EQ(same.epsilon_q, key.epsilon_q);
  // other powers, with room for them
  options.choices->exponents[wo] -= 1;
  const Parameters coarser = import_model(best_model_folder(GetParam()), options).model.parameters;
  options.choices->equalisation["value"][0] += 1;
  EXPECT_NE(import_model(best_model_folder(GetParam()), options).model.parameters, coarser);
  options.choices->exponents = key.exponents;
  options.choices->equalisation["value"].pop_back();
  expect_input_error([&] { import_model(best_model_folder(GetParam()), options); }, "equalisation/value");
  options.choices->equalisation = key.equalisation;
  options.choices->widths.product_bits = 29;
  expect_input_error([&] { import_model(best_model_folder(GetParam()), options); }, "product_bits");
}

TEST_P(LlamaImport, context_and_width_can_be_chosen) {
  ImportOptions options;
  options.context = 48;
  options.product_bits = 20;
  const ImportedModel chosen = import_model(best_model_folder(GetParam()), options);
  EXPECT_EQ(chosen.model.shape.n_positions, 48U);
  EXPECT_EQ(chosen.model.widths.product_bits, 20U);
  EXPECT_EQ(chosen.model.rotary_table.size(), rotary_entries(chosen.model.shape));
  EXPECT_GE(chosen.model.exponents[scales::product], imported().model.exponents[scales::product]);
}

TEST_P(LlamaImport, rounding_the_parameters_keeps_the_perplexity) {
  const double ratio = rounded_ratio(imported().model);
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_NEAR(ratio, 1.0, 5e-4);
}

TEST_P(LlamaImport, outliers_that_keep_the_function_cost_nothing) {
  ImportedModel other;
  other.float_model = imported().float_model;
  const ModelShape& shape = other.float_model.shape;
  Equalisation outliers = no_equalisation(shape);
  for (auto& [place, powers] : outliers) {
    for (std::size_t i = 3; i < powers.size(); i += powers.size() / 4) {
      powers[i] = -10;
    }
  }
  apply_powers(other.float_model, outliers);
  const SingleTransformer transformer(other.float_model);
  const Ids tokens = sample();
  const std::uint32_t filler = imported().model.tokenizer.end_of_text;
  quantize_import(other, imported().model.tokenizer, {}, [&] { return calibrate(transformer, tokens, filler); });
  const double ratio = rounded_ratio(other.model);
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_NEAR(ratio, 1.0, 5e-4);
}

TEST_P(LlamaImport, texts_stay_inside_the_calibrated_ranges) {
  FloatModel equalised = imported().float_model;
  apply_powers(equalised, imported().model.equalisation);
  const FloatTransformer transformer(equalised);
  const Ids tokens = sample();
  const std::size_t window = transformer.shape().n_positions;
  ActivationRanges found;
  for (std::size_t begin = 0; begin < tokens.size(); begin += window) {
    const std::size_t length = std::min(window, tokens.size() - begin);
    KeyValueCache cache(transformer.shape(), length);
    static_cast<void>(transformer.extend({&cache, 1}, std::span(tokens).subspan(begin, length), &found));
  }
  const Exponents& x = imported().model.exponents;
  const std::map<std::string, int> exponents = {{"u1", x[scales::u1]},
                                                {"u2", x[scales::u2]},
                                                {"uf", x[scales::uf]},
                                                {"q", x[scales::q]},
                                                {"k", x[scales::k]},
                                                {"v", x[scales::v]},
                                                {"y", x[scales::v]},
                                                {"mlp", x[scales::mlp]},
                                                {"hq", x[scales::hq]},
                                                {"hk", x[scales::hk]},
                                                {"score", x[scales::score]},
                                                {"gelu", x[scales::gelu]},
                                                {"product", x[scales::product]}};
  const Widths& widths = imported().model.widths;
  const std::map<std::string, unsigned> bits = {
      {"product", widths.product_bits}, {"mlp", widths.gate_bits}, {"uf", widths.final_bits}, {"gelu", 22}};
  const bool untied = !imported().model.shape.tied;
  for (const auto& [kind, exponent] : exponents) {
    if (found.contains(kind)) {
      // of norms whose gains are folded, the integers are without the gains' mantissas
      const bool folded = kind == "u1" || kind == "u2" || (kind == "uf" && untied);
      const double limit = 32000.0 * (folded ? std::sqrt(2.0) : 1.0);
      const auto width = bits.find(kind);
      const int wide = width == bits.end() ? 0 : static_cast<int>(width->second) - 16;
      EXPECT_LE(std::ldexp(found.at(kind), exponent), std::ldexp(limit, wide)) << kind;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LlamaImport, ::testing::Values("gutenberg-llama-3m", "odd-qwen-60k", "odd-qwen2-50k"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tessera::test
