#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include "float_model/float_model.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "proving.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Largest difference between a logit of the integer model and the one in reference.json (float64, single-precision
/// weights): quantization and the half-precision weights together. Measured: 0.0173 for odd-40k, 0.0260 for
/// gutenberg-2m. A difference of logits, as a margin is, may be off by twice that.
double largest_logit_error(const std::string& model) { return model == "odd-40k" ? 0.02 : 0.03; }

class Reference : public testing::TestWithParam<const char*> {
 protected:
  Reference() : reference_(nlohmann::json::parse(text_of(bundled_folder(GetParam()) / "reference.json"))) {}

  /// Logits of the integer model at all positions, (vocabulary, position).
  static std::vector<double> logits_of(const Ids& ids) {
    const Model& model = bundled(GetParam()).model;
    SelfCommunicator self;
    const IntegerModel integers = integer_model(model);
    const ModelPlan plan = ModelPlan::of(integers.key, ids.size() - 1, 1);
    IntegerTransformer transformer(integers, plan, Record::nothing, self);
    transformer.append(ids);
    std::vector<double> logits;
    for (const std::int64_t value : transformer.logits({0, ids.size()})) {
      logits.push_back(
          std::ldexp(static_cast<double>(value), -(model.exponents[scales::residual] + model.exponents[scales::uf])));
    }
    return logits;
  }

  static void expect_perplexity_kept(const std::string& text) {
    const ImportedModel& imported = bundled(GetParam());
    const Ids ids = Tokenizer(imported.model.tokenizer).encode(text);
    SelfCommunicator self;
    const double found = integer_perplexity(integer_model(imported.model), ids, self).value();
    const double original = perplexity(FloatTransformer(imported.float_model), ids).value();
    RecordProperty("ratio", std::to_string(found / original));
    EXPECT_LE(found, 1.001 * original);
  }

  nlohmann::json reference_;
};

TEST_P(Reference, logits_are_within_quantization) {
  double largest = 0;
  for (const auto& prompt : reference_["prompts"]) {
    const Ids ids = prompt["ids"].get<Ids>();
    const std::vector<double> logits = logits_of(ids);
    for (std::size_t i = 0; i < prompt["last_logits_top20_ids"].size(); ++i) {
      const auto id = prompt["last_logits_top20_ids"][i].get<std::size_t>();
      const double error = logits[(id + 1) * ids.size() - 1] - prompt["last_logits_top20"][i].get<double>();
      largest = std::max(largest, std::abs(error));
    }
  }
  RecordProperty("largest_logit_error", std::to_string(largest));
  EXPECT_LE(largest, largest_logit_error(GetParam())) << largest;
}

TEST_P(Reference, greedy_continuations_agree_where_the_margin_is_clear) {
  std::size_t clear = 0, all = 0;
  for (const auto& prompt : reference_["prompts"]) {
    Ids ids = prompt["ids"].get<Ids>();
    const Ids greedy = prompt["greedy_ids"].get<Ids>();
    const std::size_t first = ids.size() - 1;
    ids.insert(ids.end(), greedy.begin(), greedy.end() - 1);
    const std::vector<double> logits = logits_of(ids);
    for (std::size_t g = 0; g < greedy.size(); ++g, ++all) {
      if (prompt["greedy_margins"][g].get<double>() <= 2 * largest_logit_error(GetParam())) {
        continue;
      }
      std::size_t best = 0;
      for (std::size_t id = 1; id < logits.size() / ids.size(); ++id) {
        best = logits[id * ids.size() + first + g] > logits[best * ids.size() + first + g] ? id : best;
      }
      EXPECT_EQ(best, greedy[g]) << prompt["text"] << ", generated token " << g;
      ++clear;
    }
  }
  EXPECT_GT(clear, all * 3 / 4) << "of " << all;
}

TEST_P(Reference, a_proven_continuation_is_the_reference) {
  // the prompt whose continuation stays clear for longest
  std::size_t longest = 0, chosen = 0;
  for (std::size_t i = 0; i < reference_["prompts"].size(); ++i) {
    const auto margins = reference_["prompts"][i]["greedy_margins"].get<std::vector<double>>();
    std::size_t clear = 0;
    while (clear < margins.size() && margins[clear] > 2 * largest_logit_error(GetParam())) {
      ++clear;
    }
    if (clear > longest) {
      longest = clear;
      chosen = i;
    }
  }
  const auto& prompt = reference_["prompts"][chosen];
  const Model& model = bundled(GetParam()).model;
  longest = std::min(longest, model.shape.n_positions - prompt["ids"].size());
  ASSERT_GE(longest, 8U);
  const Job job = prove_job(model, prompt["ids"].get<Ids>(), longest, 1, 1);
  Ids expected = prompt["greedy_ids"].get<Ids>();
  expected.resize(longest);
  EXPECT_EQ(job.statement.generated, expected);
  EXPECT_TRUE(verify_inference(job.key, job.statement, job.payload).accepted);
}

TEST_P(Reference, Slow_perplexity_of_the_sample_is_kept) {
  expect_perplexity_kept(text_of(bundled_folder(GetParam()) / "sample.txt"));
}

TEST_P(Reference, Slow_perplexity_of_the_evaluation_text_is_kept) {
  const auto path = std::filesystem::path(TESSERA_SOURCE_DIR) / ".." / "shared" / "models" / GetParam() / "eval.txt";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the evaluation text is not here: " << path;
  }
  expect_perplexity_kept(text_of(path));
}

INSTANTIATE_TEST_SUITE_P(Models, Reference, testing::Values("gutenberg-2m", "odd-40k"), [](const auto& parameter) {
  return std::string(parameter.param) == "odd-40k" ? "odd" : "gutenberg";
});

}  // namespace
}  // namespace tessera::test
