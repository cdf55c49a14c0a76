#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include "base/errors.hpp"
#include "checkpoints/checkpoint.hpp"
#include "float_model/float_model.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

Tokenizer tokenizer_of(const std::filesystem::path& folder, const ModelShape& shape) {
  return Tokenizer(load_tokenizer(folder, shape));
}

/// Against the original weights where they are here: reference.json was computed with them.
class FloatReference : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(full_model_folder(GetParam()))) {
      GTEST_SKIP() << "the original weights are not here: " << full_model_folder(GetParam());
    }
    float_model_ = load_checkpoint(full_model_folder(GetParam()));
    model_ = std::make_unique<FloatTransformer>(float_model_);
    tokenizer_ = std::make_unique<Tokenizer>(tokenizer_of(full_model_folder(GetParam()), model_->shape()));
    reference_ = nlohmann::json::parse(file_bytes(full_model_folder(GetParam()) / "reference.json"));
  }

  FloatModel float_model_;
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
  const Perplexity found =
      perplexity(*model_, tokenizer_->encode(file_bytes(full_model_folder(GetParam()) / "sample.txt")));
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
  const double root = std::sqrt(static_cast<double>(model_->shape().head_size()));
  // kinds of tensors: the ends of the reference's names, and what its numbers lack
  struct Kind {
    std::string name, end;
    double divisor = 1;
  };
  std::vector<Kind> kinds{{"score", "scores"}};
  if (!model_->shape().rotary()) {
    kinds.insert(kinds.end(), {{"u1", ".ln_1"}, {"u2", ".ln_2"}, {"uf", "ln_f"}, {"mlp", "mlp_pre_gelu"}});
  } else {
    kinds.insert(kinds.end(), {{"u1", ".input_layernorm"},
                               {"u2", ".post_attention_layernorm"},
                               {"uf", "norm"},
                               {"q", "q_rotated", root},
                               {"k", "k_rotated"},
                               {"v", "v_proj"},
                               {"y", "attn_out"},
                               {"mlp", "mlp_gate"},
                               {"product", "mlp_product"}});
  }
  if (model_->shape().head_norm) {
    kinds.insert(kinds.end(), {{"hq", "q_proj"}, {"hk", "k_proj"}});
  }
  std::map<std::string, double> expected;
  for (const auto& [name, value] : reference_["ranges"].items()) {
    if (name.find("residual") != std::string::npos) {
      expected["residual"] = std::max(expected["residual"], value.get<double>());
    }
    for (const Kind& kind : kinds) {
      if (kind.end.starts_with('.') ? name.ends_with(kind.end) : name == kind.end || name.ends_with('.' + kind.end)) {
        expected[kind.name] = std::max(expected[kind.name], value.get<double>() / kind.divisor);
      }
    }
  }
  EXPECT_EQ(expected.size(), kinds.size() + 1);
  for (const auto& [name, value] : expected) {
    EXPECT_NEAR(ranges.at(name), value, 1e-3) << name;
  }
}

/// The model's first blocks.
FloatModel beginning(const FloatModel& model, std::size_t blocks) {
  FloatModel first = model;
  first.shape.n_layer = blocks;
  first.parameters = FloatParameters(first.shape);
  for (const ParameterRow& row : parameter_table(first.shape)) {
    const std::span<float> values = first.parameters[row.id].values();
    std::ranges::copy(model.parameters[row.id].values().first(values.size()), values.begin());
  }
  return first;
}

TEST_P(FloatReference, hidden_vectors_between_the_blocks) {
  if (!model_->shape().rotary()) {
    GTEST_SKIP() << "its norm loses the mean";
  }
  const auto ids = reference_["prompts"][1]["ids"].get<Ids>();
  const nlohmann::json& trace = reference_["trace"];
  ASSERT_EQ(trace.size(), model_->shape().n_layer + 2);
  const std::size_t d = model_->shape().n_embd;
  for (std::size_t blocks = 0; blocks <= model_->shape().n_layer; ++blocks) {
    const FloatTransformer first(beginning(float_model_, blocks));
    KeyValueCache cache(first.shape(), ids.size());
    const std::vector<double> normed = first.extend({&cache, 1}, ids);
    const auto hidden = trace[blocks].get<std::vector<double>>();
    double squares = 0;
    for (const double value : hidden) {
      squares += value * value;
    }
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(d) + float_model_.layer_norm_epsilon);
    for (std::size_t f = 0; f < d; ++f) {
      const double expected = hidden[f] * inverse * float_model_.parameters[gammaf].values()[f];
      EXPECT_NEAR(normed[normed.size() - d + f], expected, 1e-6);
      if (blocks == model_->shape().n_layer) {
        EXPECT_NEAR(normed[normed.size() - d + f], trace[blocks + 1][f].get<double>(), 1e-6);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FloatReference,
                         testing::Values("gutenberg-2m", "odd-40k", "gutenberg-llama-3m", "odd-qwen-60k",
                                         "odd-qwen2-50k"),
                         model_test_name);

class BundledModel : public testing::TestWithParam<std::string> {};

TEST_P(BundledModel, half_precision_perplexity_is_close_to_the_reference) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const Tokenizer tokenizer = tokenizer_of(model_folder(GetParam()), model.shape());
  const Perplexity found = perplexity(model, tokenizer.encode(file_bytes(model_folder(GetParam()) / "sample.txt")));
  EXPECT_NEAR(found.value() / reference(GetParam())["sample"]["perplexity"].get<double>(), 1.0, 1e-3);
}

TEST_P(BundledModel, half_precision_perplexity_of_the_evaluation_text) {
  if (!std::filesystem::exists(evaluation_text(GetParam()))) {
    GTEST_SKIP() << "the evaluation text is not here: " << evaluation_text(GetParam());
  }
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const Tokenizer tokenizer = tokenizer_of(model_folder(GetParam()), model.shape());
  const Perplexity found = perplexity(model, tokenizer.encode(file_bytes(evaluation_text(GetParam()))));
  EXPECT_NEAR(found.value() / reference(GetParam())["eval"]["f16_weights_float64"]["perplexity"].get<double>(), 1.0,
              1e-9);
}

TEST_P(BundledModel, batches_and_steps_agree_with_one_pass) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const SingleTransformer single(load_checkpoint(model_folder(GetParam())));
  const auto sequences = sample_sequences(single, Ids{0, 0, 1}, 20);
  ASSERT_EQ(sequences.size(), 3U);
  EXPECT_NE(sequences[0], sequences[1]);
  EXPECT_EQ(sequences, sample_sequences(single, Ids{0, 0, 1}, 20));
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

TEST_P(BundledModel, memory_of_one_pass_gives_the_same) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  const Ids ids = {5, 7, 11, 13, 17};
  KeyValueCache whole(model.shape(), ids.size());
  KeyValueCache once = KeyValueCache::of_one_pass(model.shape(), ids.size());
  EXPECT_EQ(once.keys.size(), 1U);
  EXPECT_EQ(model.extend({&whole, 1}, ids), model.extend({&once, 1}, ids));
  if (model.shape().n_layer > 1) {
    KeyValueCache again = KeyValueCache::of_one_pass(model.shape(), 2);
    static_cast<void>(model.extend({&again, 1}, Ids{1}));
    EXPECT_THROW(static_cast<void>(model.extend({&again, 1}, Ids{1})), std::logic_error);
  }
}

TEST_P(BundledModel, unusable_tokens_are_refused) {
  const FloatTransformer model(load_checkpoint(model_folder(GetParam())));
  expect_input_error([&] { static_cast<void>(perplexity(model, Ids{1})); }, "at least 2 tokens");
  KeyValueCache cache(model.shape(), 2);
  expect_input_error([&] { static_cast<void>(model.extend({&cache, 1}, Ids{100000})); }, "token id");
  expect_input_error([&] { static_cast<void>(model.extend({&cache, 1}, Ids{1, 2, 3})); }, "at most 2 tokens");
}

INSTANTIATE_TEST_SUITE_P(Models, BundledModel,
                         testing::Values("gutenberg-2m", "odd-40k", "odd-qwen-60k", "odd-qwen2-50k"), model_test_name);

class FamilyModel : public testing::TestWithParam<std::string> {
 protected:
  FloatModel model_ = load_checkpoint(model_folder(GetParam()));

  struct Run {
    std::vector<double> logits;
    ActivationRanges ranges;
    ChannelMaxima channels;
  };
  Run run() const {
    const FloatTransformer transformer(model_);
    const auto ids = reference(GetParam())["prompts"].back()["ids"].get<Ids>();
    KeyValueCache cache(transformer.shape(), ids.size());
    Run result;
    const std::vector<double> hidden = transformer.extend({&cache, 1}, ids, &result.ranges, &result.channels);
    result.logits = transformer.logits(hidden);
    return result;
  }
  /// Multiplies entries [row*columns, (row + 1)*columns) of block 1.
  void scale_row(ParameterId id, std::size_t row, float factor) {
    for (float& value : model_.parameters[id].block(1).rows({row, row + 1})) {
      value *= factor;
    }
  }
};

TEST_P(FamilyModel, channel_maxima_are_those_of_the_ranges) {
  const Run found = run();
  std::map<std::string, std::string> kinds{{"product", "product"}, {"value", "v"},     {"norm_1", "u1"},
                                           {"norm_2", "u2"},       {"rotated_q", "q"}, {"norm_f", "uf"},
                                           {"rotated_k", "k"}};
  std::size_t places = 0;
  for (const EqualisedPlace& place : equalised_places(model_.shape)) {
    for (const std::string part : {"", "_q", "_k"}) {
      const std::string name = std::string(place.name) + part;
      if ((place.name == "rotated") == !part.empty()) {
        const std::vector<double>& maxima = found.channels.at(name);
        EXPECT_EQ(maxima.size(), place.count) << name;
        EXPECT_EQ(*std::ranges::max_element(maxima), found.ranges.at(kinds.at(name))) << name;
        EXPECT_GT(*std::ranges::min_element(maxima), 0) << name;
        ++places;
      }
    }
  }
  EXPECT_EQ(found.channels.size(), places);
}

TEST_P(FamilyModel, scaling_a_pair_of_queries_against_keys_shows_in_its_channel_alone) {
  const Run before = run();
  const std::size_t m = model_.shape.head_size();
  const std::size_t group = model_.shape.group();
  constexpr std::size_t pair = 4;
  const std::size_t key_head = model_.shape.head_norm ? 0 : 2;
  for (const std::size_t place : {pair, pair + m / 2}) {
    if (model_.shape.head_norm) {
      scale_row(gamma_k, place, 2);
      scale_row(gamma_q, place, 0.5);
      continue;
    }
    scale_row(wk, key_head * m + place, 2);
    scale_row(bk, key_head * m + place, 2);
    for (std::size_t head = key_head * group; head < (key_head + 1) * group; ++head) {
      scale_row(wq, head * m + place, 0.5);
      scale_row(bq, head * m + place, 0.5);
    }
  }
  const Run after = run();
  for (std::size_t i = 0; i < before.logits.size(); ++i) {
    ASSERT_NEAR(after.logits[i], before.logits[i], 1e-9);
  }
  const std::size_t pairs = before.channels.at("rotated_k").size() / model_.shape.n_layer;
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    const bool scaled = i == pairs + key_head * m / 2 + pair;
    EXPECT_DOUBLE_EQ(after.channels.at("rotated_k")[i], before.channels.at("rotated_k")[i] * (scaled ? 2 : 1)) << i;
    EXPECT_DOUBLE_EQ(after.channels.at("rotated_q")[i], before.channels.at("rotated_q")[i] / (scaled ? 2 : 1)) << i;
  }
}

TEST_P(FamilyModel, fillers_beyond_the_context_change_nothing_before_them) {
  const FloatTransformer transformer(model_);
  const Ids ids = sample_sequences(SingleTransformer(model_), Ids{1}, model_.shape.n_positions).front();
  Ids longer = ids;
  longer.resize(ids.size() + 7);
  KeyValueCache cache(transformer.shape(), ids.size()), padded(transformer.shape(), longer.size());
  const std::vector<double> expected = transformer.extend({&cache, 1}, ids);
  const std::vector<double> found = transformer.extend({&padded, 1}, longer);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-10);
  }
  EXPECT_TRUE(std::ranges::all_of(found, [](double value) { return std::isfinite(value); }));
}

INSTANTIATE_TEST_SUITE_P(Models, FamilyModel, testing::Values("odd-qwen-60k", "odd-qwen2-50k"), model_test_name);

}  // namespace
}  // namespace tessera::test
