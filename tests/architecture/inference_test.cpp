#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "gpt2_layers.hpp"
#include "arithmetic/tables.hpp"
#include "base/errors.hpp"
#include "cluster/thread_communicator.hpp"
#include "integer_model/integer_model.hpp"
#include "plan/witness.hpp"

#include "../model/random_model.hpp"
#include "naive_inference.hpp"

namespace tessera::test {
namespace {

using Tokens = std::vector<std::uint32_t>;

struct Case {
  const char* name;
  ModelShape shape;
  std::size_t prompt;
  std::size_t generate;
};

// odd: heads of 12, padded features, several chunks of rows. tiles: ten of keys, several feature chunks.
// split: e*v does not fit float64 in one product.
const std::vector<Case> cases = {
    {"odd", {2, 36, 3, 144, 300, 48}, 20, 5},         {"odd_beyond_context", {2, 36, 3, 144, 300, 48}, 37, 11},
    {"power_of_two", {2, 32, 4, 128, 256, 64}, 9, 7}, {"straddling_heads", {1, 80, 2, 100, 70, 32}, 10, 3},
    {"tiles", {2, 96, 3, 192, 130, 512}, 140, 4},     {"one_token", {1, 8, 1, 16, 17, 16}, 1, 1},
    {"split", {1, 8, 2, 16, 20, 4096}, 516, 3},
};

void expect_equal(const ModelPlan& plan, const Trace& a, const Trace& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.prompt_length, b.prompt_length);
  EXPECT_EQ(a.generated, b.generated);
  for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
    std::visit(
        [&](const auto& x) {
          const auto& y = std::get<std::decay_t<decltype(x)>>(b.tensors[i]);
          EXPECT_TRUE(x.shape() == y.shape()) << plan.recorded[i].name;
          EXPECT_TRUE(x.values() == y.values()) << plan.recorded[i].name;
        },
        a.tensors[i]);
  }
}

Statement statement_of(const Trace& trace) {
  const auto at = [&](std::size_t t) { return trace.tokens.begin() + static_cast<std::ptrdiff_t>(t); };
  return {{at(0), at(trace.prompt_length)}, {at(trace.prompt_length), at(trace.prompt_length + trace.generated)}};
}

/// Where nothing is computed, padding and masked places, a trace holds what rshift makes of 0.
std::int64_t padding_of(const std::string& name, const Exponents& e) {
  const std::map<std::string, int> shifts = {
      {"layer_norm_1/u_remainder", 30 + e[gamma1] - e[scales::u1]},
      {"layer_norm_2/u_remainder", 30 + e[gamma2] - e[scales::u2]},
      {"layer_norm_final/u_remainder", 30 + e[gammaf] - e[scales::uf]},
      {"q_remainder", e[wq] + e[scales::u1] - e[scales::q]},
      {"k_remainder", e[wk] + e[scales::u1] - e[scales::k]},
      {"v_remainder", e[wv] + e[scales::u1] - e[scales::v]},
      {"score_remainder", e[scales::q] + e[scales::k] - e[scales::score]},
      {"y_remainder", 46},
      {"o_remainder", e[wo] + e[scales::v] - e[scales::residual]},
      {"mlp_remainder", e[w1] + e[scales::u2] - e[scales::mlp]},
      {"mlp_out_remainder", e[w2] + e[scales::gelu] - e[scales::residual]},
  };
  EXPECT_EQ(shifts.contains(name), name.ends_with("_remainder")) << name;
  return shifts.contains(name) ? std::int64_t{1} << (shifts.at(name) - 1) : 0;
}

void expect_padding(const ModelPlan& plan, const Trace& trace) {
  const auto check = [&](const std::string& name, const auto& tensor) {
    const std::int64_t expected = padding_of(name, plan.exponents);
    const Shape& shape = tensor.shape();
    const std::vector<Dimension>& dimensions = shape.dimensions();
    const std::size_t head = plan.attention.heads.place().chunk();
    const bool padded_heads = dimensions == plan.shapes.head_feature.dimensions();
    std::vector<std::size_t> at(dimensions.size());
    for (const std::size_t chunk : tensor.held()) {
      for (std::size_t i = 0; i < shape.chunk_size(); ++i) {
        bool padding = false;
        for (std::size_t inner = i, j = dimensions.size(); j-- > 0; inner >>= dimensions[j].log_chunk) {
          at[j] = (shape.coordinate(chunk, j) << dimensions[j].log_chunk) + (inner & (dimensions[j].chunk() - 1));
          padding = padding || at[j] >= dimensions[j].length;
        }
        padding = padding || (padded_heads && at[1] % head >= plan.attention.heads.size) ||
                  (shape.presence() == Presence::causal && at[4] > at[3]);
        if (padding) {
          ASSERT_EQ(tensor.chunk(chunk)[i], expected) << name << ", chunk " << chunk << ", place " << i;
        }
      }
    }
  };
  for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
    std::visit([&](const auto& tensor) { check(plan.recorded[i].name, tensor); }, trace.tensors[i]);
  }
}

class InferenceCases : public ::testing::TestWithParam<Case> {
 protected:
  InferenceCases()
      : generator_(7),
        model_(generator_.make(GetParam().shape)),
        integers_(with_filler(model_)),
        prompt_(generator_.tokens(GetParam().prompt, GetParam().shape.n_vocab)),
        plan_(ModelPlan::of(integers_.key, GetParam().prompt, GetParam().generate)) {}
  static IntegerModel with_filler(const Model& model) {
    IntegerModel integers = integer_model(model);
    integers.key.filler = 3;
    return integers;
  }
  RandomModel generator_;
  Model model_;
  IntegerModel integers_;
  Tokens prompt_;
  ModelPlan plan_;
  SelfCommunicator self_;
};

TEST_P(InferenceCases, equals_naive_inference) {
  const Exponents& e = model_.exponents;
  const double epsilon = static_cast<double>(model_.shape.n_embd) * model_.layer_norm_epsilon * 16777216.0;
  EXPECT_EQ(integers_.key.epsilon, std::max<std::int64_t>(1, std::llround(epsilon)));
  EXPECT_EQ(integers_.key.exp_table, exp_table(e[scales::score], plan_.constants.kappa));
  EXPECT_EQ(integers_.key.gelu_table, gelu_table(e[scales::mlp], e[scales::gelu]));
  const Trace trace = run_inference(integers_, plan_, prompt_, self_);
  EXPECT_EQ(trace.prompt_length, prompt_.size());
  EXPECT_EQ(trace.generated, GetParam().generate);
  const Trace naive = naive_inference(integers_, statement_of(trace));
  expect_equal(plan_, trace, naive);
  expect_padding(plan_, trace);
  EXPECT_TRUE(std::equal(prompt_.begin(), prompt_.end(), trace.tokens.begin()));
  ChunkedTensor<std::int64_t> logits = naive[plan_.logits.values];
  for (std::size_t g = 0; g < GetParam().generate; ++g) {
    std::size_t best = 0;
    for (std::size_t v = 1; v < model_.shape.n_vocab; ++v) {
      best = block_row(logits, 0, v)[g] > block_row(logits, 0, best)[g] ? v : best;
    }
    EXPECT_EQ(trace.tokens[prompt_.size() + g], best) << g;
  }
  for (std::size_t t = plan_.tokens; t < trace.tokens.size(); ++t) {
    EXPECT_EQ(trace.tokens[t], 3U) << t;
  }
}

TEST_P(InferenceCases, one_pass_equals_cached) {
  const Trace cached = run_inference(integers_, plan_, prompt_, self_);
  expect_equal(plan_, cached, run_one_pass(integers_, plan_, prompt_, statement_of(cached).generated, self_));
}

TEST_P(InferenceCases, ranks_hold_parts_of_one_trace) {
  const Trace whole = run_inference(integers_, plan_, prompt_, self_);
  for (const int ranks : {2, 3, 4, 7, 13}) {  // teams beyond the heads
    run_ranks(ranks, [&](Communicator& comm) {
      omp_set_num_threads(1);
      const Model share = part_of(model_, comm.rank(), comm.size());
      const Trace part = run_inference(with_filler(share), plan_, prompt_, comm);
      EXPECT_EQ(part.tokens, whole.tokens);
      const auto check = [&](const std::string& name, const auto& mine, const auto& all) {
        for (std::size_t chunk = 0; chunk < all.shape().chunk_count(); ++chunk) {
          const bool replicated = mine.ownership().dimension == Ownership::replicated;
          const int owner = mine.ownership().owner(mine.shape(), chunk, comm.size());
          ASSERT_EQ(mine.holds(chunk), replicated || owner == comm.rank()) << name;
          if (mine.holds(chunk)) {
            EXPECT_TRUE(std::ranges::equal(mine.chunk(chunk), all.chunk(chunk))) << name << ", chunk " << chunk;
          }
        }
      };
      for (std::size_t i = 0; i < plan_.recorded.size(); ++i) {
        std::visit(
            [&](const auto& mine) {
              check(plan_.recorded[i].name, mine, std::get<std::decay_t<decltype(mine)>>(whole.tensors[i]));
            },
            part.tensors[i]);
      }
    });
  }
}

/// Chunks of the vocabulary are divided so that no rank has much more than others: parts of the last one may have no
/// row.
TEST(Inference, parts_of_the_vocabulary_without_rows_are_zero) {
  constexpr int ranks = 2;
  RandomModel generator(14);
  const Model model = generator.make({1, 80, 2, 100, 12 * 1024 + 300, 96});
  const IntegerModel integers = integer_model(model);
  const std::vector<std::uint32_t> prompt = generator.tokens(20, model.shape.n_vocab);
  SelfCommunicator self;
  const ModelPlan undivided = ModelPlan::of(integers.key, prompt.size(), 3);
  Trace whole = run_inference(integers, undivided, prompt, self);
  ChunkedTensor<std::int64_t>& all = whole[undivided.logits.values];
  const Division division = Division::finest(ranks);
  const ModelPlan plan = ModelPlan::of(integers.key, prompt.size(), 3, division);
  const Dimension vocabulary = plan.logits.logits.dimensions()[0];
  ASSERT_GE((vocabulary.chunk_count() - 1) << vocabulary.log_chunk, vocabulary.length);
  run_ranks(ranks, [&](Communicator& comm) {
    const Trace part = run_inference(integer_model(part_of(model, comm.rank(), division)), plan, prompt, comm);
    EXPECT_EQ(part.tokens, whole.tokens);
    const ChunkedTensor<std::int64_t>& mine = part[plan.logits.values];
    for (const std::size_t chunk : mine.held()) {
      const std::size_t first = mine.shape().coordinate(chunk, 0) << vocabulary.log_chunk;
      for (std::size_t i = 0; i < mine.chunk(chunk).size(); ++i) {
        const std::size_t g = mine.shape().coordinate(chunk, 1);
        const bool row = first + i < vocabulary.length;
        ASSERT_EQ(mine.chunk(chunk)[i], row ? block_row(all, 0, first + i)[g] : 0) << first + i;
      }
    }
  });
}

/// Rows that are not held are an error, not zeros.
TEST(Inference, refuses_the_rows_of_another_rank) {
  RandomModel generator(12);
  const Model model = generator.make({1, 80, 2, 100, 70, 96});
  SelfCommunicator self;
  for (const ParameterId id : {embedding, position, wq, wk, wv, wo, w1, w2}) {
    Model other = model;
    other.parameters[id] = part_of(model, 1, 2).parameters[id];
    EXPECT_THROW(infer(integer_model(other), generator.tokens(20, 70), 2, self), std::logic_error) << id;
    EXPECT_THROW(ParameterTensors::of(model.shape, other.parameters), std::logic_error) << id;
    EXPECT_NO_THROW(ParameterTensors::of(model.shape, other.parameters, 1, {2, 0})) << id;
  }
}

/// Weights that are divided as another length's would be.
TEST(Witness, refuses_parameters_that_are_divided_otherwise_than_its_plan) {
  RandomModel generator(13);
  const Model model = generator.make({1, 128, 2, 256, 70, 96});
  const IntegerModel integers = integer_model(model);
  SelfCommunicator self;
  const auto make = [&](const Division& of_plan, const Division& of_parameters) {
    const ModelPlan plan = ModelPlan::of(integers.key, 20, 2, of_plan);
    const Trace trace(plan, 0, 1);
    const ParameterTensors parameters = ParameterTensors::of(model.shape, model.parameters, 0, of_parameters);
    return Witness(plan, trace, parameters, self).parameters.size();
  };
  EXPECT_NO_THROW(make({}, {}));
  EXPECT_NO_THROW(make({3, 32}, {3, 32}));
  EXPECT_THROW(make({3, 32}, {}), std::logic_error);
  EXPECT_THROW(make({}, {3, 32}), std::logic_error);
}

/// The oracle's tensors of parameters that are used up are those of parameters that stay: with and without padding, of
/// rows and of columns, on any number of ranks.
TEST(Witness, parameters_that_are_used_up_make_the_same_tensors) {
  ModelShape llama{2, 64, 4, 96, 300, 64, rotary_layers, 2};
  llama.tied = false;
  ModelShape normed = llama;
  normed.head_dim = 24;
  normed.head_norm = true;
  const std::vector<ModelShape> shapes = {{2, 512, 8, 1024, 600, 256},
                                          {2, 256, 4, 512, 512, 256},
                                          {1, 36, 3, 144, 300, 48},
                                          {1, 192, 6, 768, 2048, 256},
                                          {2, 128, 2, 256, 256, 96},
                                          {1, 8, 1, 16, 17, 16},
                                          llama,
                                          normed};
  std::mt19937_64 engine(3);
  std::size_t in_place = 0;
  for (const ModelShape& shape : shapes) {
    for (const Division& division : {Division{}, Division::finest(2), Division::finest(3), Division::finest(7),
                                     Division{2, 32}, Division{4, 8}, Division{4, 16}}) {
      for (int rank = 0; rank < division.ranks; ++rank) {
        Parameters parameters(shape, rank, division);
        for (const ParameterRow& row : parameter_table(shape)) {
          for (std::int16_t& value : parameters[row.id].values()) {
            value = static_cast<std::int16_t>(engine());
          }
        }
        const ParameterTensors copied = ParameterTensors::of(shape, parameters, rank, division);
        std::vector<const std::int16_t*> memory;
        for (const ParameterRow& row : parameter_table(shape)) {
          memory.push_back(parameters[row.id].values().data());
        }
        const ParameterTensors moved = ParameterTensors::of(shape, std::move(parameters), rank, division);
        ASSERT_EQ(moved.tensors.size(), copied.tensors.size());
        for (std::size_t i = 0; i < copied.tensors.size(); ++i) {
          EXPECT_TRUE(moved.tensors[i].shape() == copied.tensors[i].shape()) << i;
          EXPECT_EQ(moved.tensors[i].held(), copied.tensors[i].held()) << i;
          EXPECT_TRUE(moved.tensors[i].values() == copied.tensors[i].values())
              << i << ", rank " << rank << " of " << division.ranks << ", " << division.tokens << " tokens";
          in_place += moved.tensors[i].values().data() == memory[i] && !copied.tensors[i].values().empty() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(in_place, 100U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, InferenceCases, ::testing::ValuesIn(cases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

/// Runs tokens in batches of the given sizes and returns the logits of all positions, (vocabulary, tokens).
RawVector<std::int64_t> logits_of(const IntegerModel& model, const Tokens& tokens, std::size_t capacity,
                                  std::span<const std::size_t> batches) {
  SelfCommunicator self;
  const ModelPlan plan = ModelPlan::of(model.key, capacity - 1, 1);
  IntegerTransformer transformer(model, plan, Record::nothing, self);
  std::size_t first = 0;
  for (const std::size_t size : batches) {
    transformer.append(std::span(tokens).subspan(first, size));
    first += size;
  }
  return transformer.logits({0, first});
}

TEST(Inference, integers_do_not_depend_on_batches_or_capacity) {
  RandomModel generator(5);
  const Model model = generator.make({2, 36, 3, 144, 300, 1024});
  IntegerModel integers = integer_model(model);
  const Tokens tokens = generator.tokens(300, 300);
  const std::vector<std::size_t> at_once{300};
  const std::vector<std::size_t> pieces{1, 2, 3, 4, 118, 1, 127, 3, 41};
  const auto expected = logits_of(integers, tokens, 300, at_once);
  EXPECT_EQ(logits_of(integers, tokens, 1024, pieces), expected);
  EXPECT_EQ(logits_of(integers, tokens, 1024, at_once), expected);
}

TEST(Inference, real_rows_do_not_depend_on_what_follows) {
  RandomModel generator(6);
  const Model model = generator.make({2, 36, 3, 144, 300, 512});
  IntegerModel integers = integer_model(model);
  const Tokens prompt = generator.tokens(10, 300);
  SelfCommunicator self;
  const ModelPlan plan = ModelPlan::of(integers.key, 10, 2);
  const Trace shorter = run_inference(integers, plan, prompt, self);  // 16 rows
  integers.key.filler = 5;
  const Trace longer = infer(integers, prompt, 146, self);  // ten chunks of them, other filler
  const auto expect_same = [&](const auto& tensor, std::size_t chunk, std::size_t row, std::size_t t) {
    EXPECT_EQ(shorter[tensor].chunk(chunk)[row * 16 + t], longer[tensor].chunk(chunk * 10)[row * 16 + t]);
  };
  ASSERT_EQ(shorter.tokens.size(), 16U);
  ASSERT_EQ(longer.tokens.size(), 160U);
  for (std::size_t t = 0; t < 12; ++t) {
    EXPECT_EQ(shorter.tokens[t], longer.tokens[t]);
    for (std::size_t f = 0; f < 36; ++f) {
      expect_same(plan.x_end, 0, f, t);
      expect_same(layer_norm(plan.norm_final).u_remainder, 0, f, t);
    }
    expect_same(plan.attention.row_sum, 4, 0, t);
    expect_same(plan.attention.row_inverse, 4, 0, t);
  }
}

TEST(Inference, lowest_of_equal_logits_wins) {
  RandomModel generator(8);
  Model model = generator.make({1, 32, 2, 64, 200, 32});
  std::ranges::fill(model.parameters[embedding].values(), std::int16_t{5});
  IntegerModel integers = integer_model(model);
  integers.key.filler = 1;
  run_ranks(3, [&](Communicator& comm) {
    const Trace trace = infer(integers, Tokens{7, 9}, 3, comm);
    EXPECT_EQ(trace.tokens, (Tokens{7, 9, 0, 0, 0, 1, 1, 1}));
  });
}

TEST(Inference, refuses_bad_statements) {
  RandomModel generator(10);
  const Model model = generator.make({1, 8, 1, 16, 17, 16});
  IntegerModel integers = integer_model(model);
  SelfCommunicator self;
  EXPECT_THROW(infer(integers, {}, 1, self), InputError);
  EXPECT_THROW(infer(integers, Tokens{1}, 0, self), InputError);
  EXPECT_THROW(infer(integers, Tokens{17}, 1, self), std::invalid_argument);
  EXPECT_THROW(infer(integers, Tokens{1}, 16, self), InputError);
  EXPECT_THROW(infer(integers, Tokens{1}, static_cast<std::size_t>(-1), self), InputError);
  Model wrong = model;
  wrong.exponents[scales::q] = wrong.exponents[wq] + wrong.exponents[scales::u1];
  EXPECT_THROW(integer_model(wrong), InputError);
  wrong = model;
  ModelShape narrow = model.shape;
  narrow.n_inner = 15;
  wrong.parameters[w2] = Parameters(narrow)[w2];
  EXPECT_THROW(integer_model(wrong), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::test
