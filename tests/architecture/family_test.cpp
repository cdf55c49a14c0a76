// Inference of models whose blocks are not GPT-2's against the formulas, each recorded value of each token.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../model/saturated_models.hpp"
#include "architecture/inference.hpp"
#include "cluster/thread_communicator.hpp"
#include "integer_model/integer_model.hpp"
#include "naive_family.hpp"

namespace tessera::test {
namespace {

/// Compares all of a tensor's present values with a row-major list over its indices. Returns how many there are.
template <class T>
std::size_t expect_values(const ChunkedTensor<T>& tensor, const std::vector<std::int64_t>& expected) {
  const Shape& shape = tensor.shape();
  const std::vector<Dimension>& dimensions = shape.dimensions();
  std::size_t count = 1, compared = 0, different = 0;
  for (const Dimension& dimension : dimensions) {
    count *= dimension.length;
  }
  if (count != expected.size()) {
    ADD_FAILURE() << "expected " << count << " values, found " << expected.size();
    return 0;
  }
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    for (std::size_t inner = 0; inner < shape.chunk_size(); ++inner) {
      std::size_t place = 0;
      unsigned bits = shape.inner_bits();
      bool padding = false;
      for (std::size_t j = 0; j < dimensions.size(); ++j) {
        const Dimension& dimension = dimensions[j];
        bits -= dimension.log_chunk;
        const std::size_t index =
            (shape.coordinate(chunk, j) << dimension.log_chunk) + (inner >> bits & (dimension.chunk() - 1));
        padding = padding || index >= dimension.length;
        place = place * dimension.length + index;
      }
      if (!padding) {
        ++compared;
        different += tensor.chunk(chunk)[inner] == expected[place] ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(different, 0U);
  return compared;
}

/// The key's constants, by section 3 of the page.
void expect_constants(const VerifyingKey& key, double epsilon) {
  const ModelShape& shape = key.shape;
  const Exponents& e = key.exponents;
  const auto d = static_cast<double>(shape.n_embd), m = static_cast<double>(shape.head_size());
  const double c = std::floor(std::sqrt(d) * 0x1p16 + 0.5);
  const auto scaled = [&](double n, int exponent) { return std::floor(std::ldexp(n * epsilon, 2 * exponent) + 0.5); };
  const auto of_width = [&](int shift, int exponent) {
    const double least = std::floor(std::ldexp(c, shift - 31)) + 1;
    return std::max(least * least, scaled(d, exponent));
  };
  EXPECT_EQ(static_cast<double>(key.epsilon), of_width(static_cast<int>(key.widths.norm_shift), e[scales::residual]));
  if (shape.head_norm) {
    const double q = shape.norm_across_heads ? m * static_cast<double>(shape.n_head) : m;
    const double k = shape.norm_across_heads ? m * static_cast<double>(shape.kv_heads()) : m;
    EXPECT_EQ(static_cast<double>(key.epsilon_q), std::max(1.0, scaled(q, e[scales::hq])));
    EXPECT_EQ(static_cast<double>(key.epsilon_k), std::max(1.0, scaled(k, e[scales::hk])));
  }
  if (shape.norm_after()) {
    EXPECT_EQ(static_cast<double>(key.epsilon_o), of_width(14, e[scales::ho]));
    EXPECT_EQ(static_cast<double>(key.epsilon_m), of_width(14, e[scales::hm]));
  }
}

/// Places are numbered row-major, too.
void expect_lists(const ModelPlan& plan, const Trace& trace, const NaiveValues& naive) {
  ASSERT_EQ(trace.exceptions.size(), plan.clamped.size());
  for (std::size_t list = 0; list < plan.clamped.size(); ++list) {
    SCOPED_TRACE(plan.clamped[list].name);
    const auto found = naive.find("excess of " + plan.clamped[list].name);
    if (found == naive.end()) {
      ADD_FAILURE() << "is in no formula";
      continue;
    }
    EXPECT_EQ(place_count(plan.clamped[list].shape), found->second.size());
    std::vector<Exception> expected;
    for (std::size_t place = 0; place < found->second.size(); ++place) {
      if (found->second[place] != 0) {
        expected.push_back({place, found->second[place]});
      }
    }
    EXPECT_EQ(trace.exceptions[list], expected);
  }
}

void expect_formulas(const Model& model, const std::vector<std::uint32_t>& prompt, std::size_t generated) {
  const IntegerModel integers = integer_model(model);
  const ModelPlan plan = ModelPlan::of(integers.key, {.prompt = prompt.size(), .generated = generated});
  expect_constants(integers.key, model.layer_norm_epsilon);
  SelfCommunicator comm;
  const Trace trace = run_inference(integers, plan, prompt, comm);
  ASSERT_EQ(trace.tokens.size(), plan.rows);
  const NaiveValues naive = naive_family(integers.key, model.parameters, trace.tokens, prompt.size() - 1, generated);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
    SCOPED_TRACE(plan.recorded[i].name);
    const auto found = naive.find(plan.recorded[i].name);
    if (found == naive.end()) {
      ADD_FAILURE() << "is in no formula";
      continue;
    }
    std::visit([&](const auto& tensor) { compared += expect_values(tensor, found->second); }, trace.tensors[i]);
  }
  EXPECT_GT(compared, 1000U * plan.rows);
  expect_lists(plan, trace, naive);
  const std::vector<std::int64_t>& logits = naive.at("logits");
  for (std::size_t g = 0; g < generated; ++g) {
    std::size_t best = 0;
    for (std::size_t v = 1; v < model.shape.n_vocab; ++v) {
      best = logits[v * generated + g] > logits[best * generated + g] ? v : best;
    }
    EXPECT_EQ(trace.tokens[prompt.size() + g], best) << g;
  }
}

class FamilyInference : public ::testing::TestWithParam<FamilyKind> {};

/// Longer than windows; the filler stands in the last rows.
TEST_P(FamilyInference, equals_the_formulas) {
  expect_formulas(random_family(GetParam()), {7, 30, 2, 19, 11, 25, 38, 4, 4, 16, 33, 9, 21, 0, 14, 28, 5, 37, 1}, 4);
}

/// Values are clamped and listed.
TEST_P(FamilyInference, equals_the_formulas_beyond_ranges) {
  const std::vector<std::uint32_t> prompt{7, 30, 2, 19, 11, 25};
  expect_formulas(saturated_family(GetParam()), prompt, 2);
  expect_formulas(distant_family(GetParam()), prompt, 2);
}

INSTANTIATE_TEST_SUITE_P(All, FamilyInference,
                         ::testing::Values(parallel_norms, shared_norm, layer_norms, norms_after, norms_around,
                                           capped_scores),
                         [](const auto& kind) { return family_names[kind.param]; });

TEST(LlamaInference, equals_the_formulas) {
  std::size_t seed = 100;
  for (const ModelShape& shape : llama_shapes()) {
    SCOPED_TRACE(seed);
    expect_formulas(RandomModel(++seed).make(shape), {1, 7, 3, 12, 20}, 3);
  }
  for (std::size_t kind = 0; kind < llama_shapes().size(); ++kind) {
    SCOPED_TRACE(kind);
    expect_formulas(saturated_llama(kind), {1, 7, 3, 12, 20}, 3);
  }
}

}  // namespace
}  // namespace tessera::test
