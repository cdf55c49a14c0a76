#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include "base/errors.hpp"
#include "float_model/calibration.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/import.hpp"
#include "integer_model/quantization.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

class Import : public testing::TestWithParam<std::string> {
 protected:
  /// Imported on first use, so that a test alone does not wait for the other model.
  [[nodiscard]] const ImportedModel& imported() const {
    static std::map<std::string, ImportedModel> models;
    if (!models.contains(GetParam())) {
      models.emplace(GetParam(), import_model(model_folder(GetParam())));
    }
    return models.at(GetParam());
  }

  /// Largest activations of a text, by kind.
  [[nodiscard]] std::map<std::string, double> maxima_of(const Ids& tokens) const {
    const FloatTransformer transformer(imported().float_model);
    const std::size_t window = transformer.shape().n_positions;
    ActivationRanges ranges;
    for (std::size_t begin = 0; begin < tokens.size(); begin += window) {
      const std::size_t length = std::min(window, tokens.size() - begin);
      KeyValueCache cache(transformer.shape(), length);
      static_cast<void>(transformer.extend({&cache, 1}, std::span(tokens).subspan(begin, length), &ranges));
    }
    return ranges;
  }

  void expect_in_range(const Ids& tokens, const std::string& what) const {
    const Exponents& x = imported().model.exponents;
    const std::map<std::string, int> exponents = {
        {"u1", x[scales::u1]},       {"u2", x[scales::u2]},    {"uf", x[scales::uf]}, {"q", x[scales::q]},
        {"k", x[scales::k]},         {"v", x[scales::v]},      {"y", x[scales::v]},   {"mlp", x[scales::mlp]},
        {"score", x[scales::score]}, {"gelu", x[scales::gelu]}};
    const auto found = maxima_of(tokens);
    for (const auto& [kind, exponent] : exponents) {
      EXPECT_LE(std::ldexp(found.at(kind), exponent), 32000.0) << kind << " of " << what;
    }
  }
};

TEST_P(Import, is_quick_and_repeatable) {
  const auto start = std::chrono::steady_clock::now();
  const ImportedModel again = import_model(model_folder(GetParam()));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("import_seconds", std::to_string(seconds.count()));
  EXPECT_EQ(again.model.exponents, imported().model.exponents);
  EXPECT_EQ(again.model.parameters, imported().model.parameters);
}

TEST_P(Import, sizes_follow_the_shape) {
  for (const ParameterRow& row : parameter_table(imported().model.shape)) {
    EXPECT_EQ(imported().model.parameters[row.id].values().size(), row.extents(imported().model.shape).count())
        << row.name;
  }
}

TEST_P(Import, given_exponents_need_no_calibration) {
  ImportOptions options;
  options.choices.emplace().exponents = imported().model.exponents;
  const ImportedModel again = import_model(model_folder(GetParam()), options);
  EXPECT_EQ(again.model.parameters, imported().model.parameters);
  EXPECT_TRUE(again.model.calibration.maxima.empty());
  options.choices->exponents[w1] += 20;
  expect_input_error([&] { import_model(model_folder(GetParam()), options); }, "shift_1: expected 1 to 16");
  options.choices->exponents = imported().model.exponents;
  options.choices->exponents[bo] += 8;
  expect_input_error([&] { import_model(model_folder(GetParam()), options); }, "bo");
  expect_input_error([&] { import_model(model_folder(GetParam()), {.product_bits = 20}); }, "width of t");
}

TEST_P(Import, parameters_are_the_rounded_weights) {
  const Parameters& integers = imported().model.parameters;
  const FloatParameters& floats = imported().float_model.parameters;
  const Exponents& x = imported().model.exponents;
  const double root = std::sqrt(static_cast<double>(imported().model.shape.head_size()));
  for (std::size_t i = 0; i < integers[wq].values().size(); ++i) {
    ASSERT_LE(
        std::abs(integers[wq].values()[i] - std::ldexp(static_cast<double>(floats[wq].values()[i]) / root, x[wq])),
        0.5);
  }
  for (std::size_t i = 0; i < integers[embedding].values().size(); ++i) {
    ASSERT_LE(
        std::abs(integers[embedding].values()[i] - std::ldexp(static_cast<double>(floats[embedding].values()[i]), 12)),
        0.5);
  }
}

TEST_P(Import, rounding_the_parameters_keeps_the_perplexity) {
  const Model& model = imported().model;
  FloatModel rounded;
  rounded.shape = model.shape;
  rounded.layer_norm_epsilon = model.layer_norm_epsilon;
  rounded.parameters = FloatParameters(model.shape);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    const bool folded = row.id == wq || row.id == bq;
    const double root = folded ? std::sqrt(static_cast<double>(model.shape.head_size())) : 1.0;
    const int exponent = model.exponents[row.scale(model.shape)];
    std::ranges::transform(model.parameters[row.id].values(), rounded.parameters[row.id].values().begin(),
                           [&](std::int16_t value) { return static_cast<float>(root * std::ldexp(value, -exponent)); });
  }
  const Ids ids = Tokenizer(model.tokenizer).encode(file_bytes(model_folder(GetParam()) / "sample.txt"));
  const double expected = perplexity(FloatTransformer(imported().float_model), ids).value();
  const double found = perplexity(FloatTransformer(rounded), ids).value();
  RecordProperty("ratio", std::to_string(found / expected));
  EXPECT_NEAR(found / expected, 1.0, 5e-4);
}

TEST_P(Import, texts_and_prompts_stay_inside_the_calibrated_ranges) {
  const Tokenizer tokenizer(imported().model.tokenizer);
  expect_in_range(tokenizer.encode(file_bytes(model_folder(GetParam()) / "sample.txt")), "sample.txt");
  const nlohmann::json expected = reference(GetParam());
  for (const auto& prompt : expected["prompts"]) {
    Ids ids = prompt["ids"].get<Ids>();
    const auto greedy = prompt["greedy_ids"].get<Ids>();
    ids.insert(ids.end(), greedy.begin(), greedy.end());
    expect_in_range(ids, prompt["text"].get<std::string>());
  }
  for (const auto& example : expected["tokenizer_cases"]) {
    if (example["ids"].empty()) {
      continue;
    }
    expect_in_range(example["ids"].get<Ids>(), example["text"].get<std::string>());
  }
}

TEST_P(Import, evaluation_text_stays_inside_the_calibrated_ranges) {
  if (!std::filesystem::exists(evaluation_text(GetParam()))) {
    GTEST_SKIP() << "the evaluation text is not here: " << evaluation_text(GetParam());
  }
  expect_in_range(Tokenizer(imported().model.tokenizer).encode(file_bytes(evaluation_text(GetParam()))), "eval.txt");
}

TEST_P(Import, calibration_text_replaces_the_sample) {
  ImportOptions options;
  options.calibration_text = "The old man looked at the sea.";
  const ImportedModel other = import_model(model_folder(GetParam()), options);
  EXPECT_LT(other.model.calibration.maxima.at("u1"), 2 * imported().model.calibration.maxima.at("u1"));
  options.calibration_text = "";
  expect_input_error([&] { import_model(model_folder(GetParam()), options); }, "calibration text");
}

TEST_P(Import, vocabulary_of_another_size_is_refused) {
  TemporaryFolder folder;
  const auto options = std::filesystem::copy_options::recursive;
  std::filesystem::copy(model_folder(GetParam()), folder.path(), options);
  auto vocabulary = nlohmann::json::parse(file_bytes(folder.path() / "vocab.json"));
  vocabulary["zzzz"] = vocabulary.size();
  write_file(folder.path() / "vocab.json", vocabulary.dump());
  expect_input_error([&] { import_model(folder.path()); }, "vocab.json: token \"zzzz\": expected an id below ");
}

INSTANTIATE_TEST_SUITE_P(Models, Import, testing::Values("gutenberg-2m", "odd-40k"), model_test_name);

}  // namespace
}  // namespace tessera::test
