#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include "base/errors.hpp"
#include "model/checkpoint.hpp"
#include "model/float_model.hpp"
#include "model/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Against the F32 weights where they are here: reference.json was computed with them.
class FloatReference : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(full_model_folder(GetParam()))) {
      GTEST_SKIP() << "the F32 weights are not here: " << full_model_folder(GetParam());
    }
    model_ = std::make_unique<FloatTransformer>(load_checkpoint(full_model_folder(GetParam())));
    tokenizer_ = std::make_unique<Tokenizer>(load_tokenizer(full_model_folder(GetParam())));
    reference_ = reference(GetParam());
  }

  std::unique_ptr<FloatTransformer> model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  nlohmann::json reference_;
};

TEST_P(FloatReference, perplexity_of_the_evaluation_text) {
  if (!std::filesystem::exists(evaluation_text(GetParam()))) {
    GTEST_SKIP() << "the evaluation text is not here: " << evaluation_text(GetParam());
  }
  const Perplexity found = perplexity(*model_, tokenizer_->encode(file_bytes(evaluation_text(GetParam()))));
  const nlohmann::json expected = reference_["eval"]["float64"];
  EXPECT_EQ(found.predicted, expected["n_predicted"].get<std::size_t>());
  EXPECT_NEAR(found.value() / expected["perplexity"].get<double>(), 1.0, 1e-9);
}

TEST_P(FloatReference, perplexity_of_the_sample) {
  const Perplexity found = perplexity(*model_, tokenizer_->encode(file_bytes(model_folder(GetParam()) / "sample.txt")));
  const nlohmann::json expected = reference_["sample"];
  EXPECT_EQ(found.predicted, expected["n_predicted"].get<std::size_t>());
  EXPECT_NEAR(found.value() / expected["perplexity"].get<double>(), 1.0, 1e-9);
}

TEST_P(FloatReference, logits_and_likelihoods_of_the_prompts) {
  const std::size_t vocabulary = model_->shape().n_vocab;
  for (const auto& prompt : reference_["prompts"]) {
    const auto ids = prompt["ids"].get<Ids>();
    KeyValueCache cache(model_->shape(), ids.size());
    const std::vector<double> logits = model_->logits(model_->extend({&cache, 1}, ids));
    const std::span<const double> last(logits.data() + (ids.size() - 1) * vocabulary, vocabulary);
    Ids order(vocabulary);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return last[a] > last[b]; });
    order.resize(20);
    EXPECT_EQ(order, prompt["last_logits_top20_ids"].get<Ids>());
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_NEAR(last[order[i]], prompt["last_logits_top20"][i].get<double>(), 1e-8);
    }
    for (std::size_t t = 1; t < ids.size(); ++t) {
      Perplexity one;
      one.add({logits.data() + (t - 1) * vocabulary, vocabulary}, ids[t]);
      EXPECT_NEAR(one.total_nll, prompt["token_nll"][t - 1].get<double>(), 1e-6);
    }
  }
}

TEST_P(FloatReference, greedy_continuations_with_the_cache) {
  for (const auto& prompt : reference_["prompts"]) {
    Ids next = prompt["ids"].get<Ids>();
    KeyValueCache cache(model_->shape(), model_->shape().n_positions);
    Ids generated;
    while (generated.size() < prompt["greedy_ids"].size()) {
      const std::vector<double> hidden = model_->extend({&cache, 1}, next);
      const std::vector<double> logits = model_->logits(std::span(hidden).last(model_->shape().n_embd));
      const auto best = std::max_element(logits.begin(), logits.end());  // the first of equals
      next = {static_cast<std::uint32_t>(best - logits.begin())};
      generated.push_back(next.front());
    }
    EXPECT_EQ(generated, prompt["greedy_ids"].get<Ids>());
  }
}

TEST_P(FloatReference, ranges_of_the_evaluation_text) {
  if (!std::filesystem::exists(evaluation_text(GetParam()))) {
    GTEST_SKIP() << "the evaluation text is not here: " << evaluation_text(GetParam());
  }
  const Ids ids = tokenizer_->encode(file_bytes(evaluation_text(GetParam())));
  const std::size_t window = model_->shape().n_positions;
  ActivationRanges ranges;
  for (std::size_t begin = 0; begin < ids.size(); begin += window) {
    const std::size_t length = std::min(window, ids.size() - begin);
    KeyValueCache cache(model_->shape(), length);
    static_cast<void>(model_->extend({&cache, 1}, std::span(ids).subspan(begin, length), &ranges));
  }
  double residual = 0, score = 0, ln1 = 0, ln2 = 0, mlp = 0;
  for (const auto& [name, value] : reference_["ranges"].items()) {
    const double maximum = value.get<double>();
    residual = name.find("residual") != std::string::npos ? std::max(residual, maximum) : residual;
    score = name.ends_with("scores") ? std::max(score, maximum) : score;
    ln1 = name.ends_with("ln_1") ? std::max(ln1, maximum) : ln1;
    ln2 = name.ends_with("ln_2") ? std::max(ln2, maximum) : ln2;
    mlp = name.ends_with("mlp_pre_gelu") ? std::max(mlp, maximum) : mlp;
  }
  EXPECT_NEAR(ranges.at("residual"), residual, 1e-3);
  EXPECT_NEAR(ranges.at("score"), score, 1e-3);
  EXPECT_NEAR(ranges.at("u1"), ln1, 1e-3);
  EXPECT_NEAR(ranges.at("u2"), ln2, 1e-3);
  EXPECT_NEAR(ranges.at("mlp"), mlp, 1e-3);
  EXPECT_NEAR(ranges.at("uf"), reference_["ranges"]["ln_f"].get<double>(), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, FloatReference, testing::Values("gutenberg-2m", "odd-40k"), model_test_name);

class BundledModel : public testing::TestWithParam<std::string> {};

TEST_P(BundledModel, half_precision_perplexity_is_close_to_the_reference) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const Tokenizer tokenizer(load_tokenizer(model_folder(GetParam())));
  const Perplexity found = perplexity(model, tokenizer.encode(file_bytes(model_folder(GetParam()) / "sample.txt")));
  EXPECT_NEAR(found.value() / reference(GetParam())["sample"]["perplexity"].get<double>(), 1.0, 1e-3);
}

TEST_P(BundledModel, half_precision_perplexity_of_the_evaluation_text) {
  if (!std::filesystem::exists(evaluation_text(GetParam()))) {
    GTEST_SKIP() << "the evaluation text is not here: " << evaluation_text(GetParam());
  }
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const Tokenizer tokenizer(load_tokenizer(model_folder(GetParam())));
  const Perplexity found = perplexity(model, tokenizer.encode(file_bytes(evaluation_text(GetParam()))));
  EXPECT_NEAR(found.value() / reference(GetParam())["eval"]["f16_weights_float64"]["perplexity"].get<double>(), 1.0,
              1e-9);
}

TEST_P(BundledModel, batches_and_steps_agree_with_one_pass) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const auto sequences = sample_sequences(model, 0, 3, 20);
  ASSERT_EQ(sequences.size(), 3U);
  EXPECT_NE(sequences[0], sequences[1]);
  EXPECT_EQ(sequences, sample_sequences(model, 0, 3, 20));
  Ids all;
  for (const Ids& sequence : sequences) {
    all.insert(all.end(), sequence.begin(), sequence.end());
  }
  std::vector<KeyValueCache> caches(3, KeyValueCache(model.shape(), 20));
  const std::vector<double> batch = model.logits(model.extend(caches, all));
  for (std::size_t s = 0; s < 3; ++s) {
    KeyValueCache cache(model.shape(), 20);
    for (std::size_t t = 0; t < 20; ++t) {
      const std::vector<double> step = model.logits(model.extend({&cache, 1}, std::span(sequences[s]).subspan(t, 1)));
      for (std::size_t v = 0; v < step.size(); ++v) {
        ASSERT_NEAR(step[v], batch[(s * 20 + t) * step.size() + v], 1e-9);
      }
    }
  }
}

TEST_P(BundledModel, unusable_tokens_are_refused) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  expect_input_error([&] { static_cast<void>(perplexity(model, Ids{1})); }, "at least 2 tokens");
  KeyValueCache cache(model.shape(), 2);
  expect_input_error([&] { static_cast<void>(model.extend({&cache, 1}, Ids{100000})); }, "token id");
  expect_input_error([&] { static_cast<void>(model.extend({&cache, 1}, Ids{1, 2, 3})); }, "at most 2 tokens");
}

INSTANTIATE_TEST_SUITE_P(Models, BundledModel, testing::Values("gutenberg-2m", "odd-40k"), model_test_name);

}  // namespace
}  // namespace tessera
