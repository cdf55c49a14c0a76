// False values of models of the Llama family, everything else consistent with them, under the true rules.

#include <gtest/gtest.h>

#include <algorithm>

#include "llama_fixture.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t inner_row = 7;

/// A liar's working set, proven by `plan`.
Forgery forge(TestModel& test, const ModelPlan& plan, const LlamaLiar& liar) {
  LlamaLie lie = llama_inference(test, llama_plan(test.key), liar);
  return {test, std::move(lie.statement), plan, std::move(lie.trace)};
}

Verdict verdict_on(TestModel& test, const LlamaLiar& liar) {
  const ModelPlan plan = llama_plan(test.key);
  Forgery forgery = forge(test, plan, liar);
  return verdict_of(forgery, plan);
}

/// Rejected for its width under the true plan, accepted if the one range takes it: values below 0 (`negative`) or
/// above.
void only_width_catches(TestModel& test, const LlamaLiar& liar, RangeId range, bool negative = true,
                        const std::function<void(Forgery&)>& change = {}) {
  for (const bool wide : {false, true}) {
    ModelPlan plan = llama_plan(test.key);
    if (wide) {
      widen(plan, range, 1, negative);
    }
    Forgery forgery = forge(test, plan, liar);
    if (change) {
      change(forgery);
      forgery.recount();
    }
    const Verdict verdict = verdict_of(forgery, plan);
    if (wide) {
      expect_accepted(verdict);
    } else {
      expect_rejected(verdict, lookup_scope);
    }
  }
}

// Norms.

struct RmsNormAt {
  const char* name;
  NormLayer ModelPlan::*plan;
  LlamaStage stage;
  std::size_t block;
  std::string scope;
};
const std::vector<RmsNormAt> rms_norms_at{
    {"norm 1", &ModelPlan::norm_1, LlamaStage::norm_1, lied_block, "/self_attention/rms_norm"},
    {"norm 2", &ModelPlan::norm_2, LlamaStage::norm_2, lied_block, "/feed_forward/rms_norm"},
    {"final norm", &ModelPlan::norm_final, LlamaStage::norm_final, 0, "/final/rms_norm"}};

struct RmsNormError {
  std::int64_t sigma, inverse;
  DerivedRange InverseRoot::*range;  // the only one that it leaves
};
const std::vector<RmsNormError> rms_norm_errors{{1, 0, &InverseRoot::root_remainder},
                                                {-1, 0, &InverseRoot::root_complement},
                                                {0, 1, &InverseRoot::inverse_remainder},
                                                {0, -1, &InverseRoot::inverse_complement}};

TEST(LlamaValues, statistics_off_by_one_leave_one_range) {
  for (const LlamaKind kind : {plain, normed}) {
    TestModel& test = llama_model(kind);
    const ModelPlan plan = llama_plan(test.key);
    for (const RmsNormAt& norm : rms_norms_at) {
      for (const RmsNormError& lie : rms_norm_errors) {
        SCOPED_TRACE(std::string(llama_names[kind]) + ": " + norm.name + ", sigma " + std::to_string(lie.sigma) +
                     ", I " + std::to_string(lie.inverse));
        const LlamaLiar liar = llama_lie(norm.stage, norm.block, [&](LlamaRun& run) {
          renormalize(run, rms_norm(run.plan.*norm.plan), norm.block, lie.sigma, lie.inverse);
        });
        only_width_catches(test, liar, rms_norm(plan.*norm.plan).*lie.range);
      }
    }
  }
}

std::int64_t head_sigma(LlamaRun& run, std::size_t part, std::size_t head) {
  const HeadNormPlan& norm = *grouped_qkv(run.plan).head_norm[part];
  const std::size_t heads = norm.token.chunk_count() / run.plan.model.n_layer;
  return run.trace[norm.sigma].chunk(lied_block * heads + head)[filler_row];
}

TEST(LlamaValues, statistics_of_heads_off_by_one_leave_one_range) {
  TestModel& test = llama_model(normed);
  const ModelPlan plan = llama_plan(test.key);
  for (const std::size_t part : {0, 1}) {
    for (const RmsNormError& lie : rms_norm_errors) {
      SCOPED_TRACE(std::string(qkv_names[part]) + ", sigma " + std::to_string(lie.sigma) + ", I " +
                   std::to_string(lie.inverse));
      const LlamaLiar liar = llama_lie(LlamaStage::qkv, lied_block, [&](LlamaRun& run) {
        renormalize_head(run, part, lied_block, 1, head_sigma(run, part, 1) + lie.sigma, lie.inverse);
      });
      only_width_catches(test, liar, *grouped_qkv(plan).head_norm[part].*lie.range);
    }
    const LlamaLiar other_head = llama_lie(LlamaStage::qkv, lied_block, [&](LlamaRun& run) {
      renormalize_head(run, part, lied_block, 1, head_sigma(run, part, 0), 0);
    });
    expect_rejected(verdict_on(test, other_head), lookup_scope);
  }
}

/// One value of a virtual tensor of an inverse root off by one, inside its range, while everything else is honest.
TEST(LlamaValues, remainders_and_complements_are_bound) {
  TestModel& test = llama_model(normed);
  const ModelPlan plan = llama_plan(test.key);
  struct Root {
    const InverseRoot& root;
    std::string scope;
  };
  const std::vector<Root> roots{{rms_norm(plan.norm_1), "/self_attention/rms_norm"},
                                {rms_norm(plan.norm_final), "/final/rms_norm"},
                                {*grouped_qkv(plan).head_norm[0], "/self_attention/qkv/q/norm"},
                                {*grouped_qkv(plan).head_norm[1], "/self_attention/qkv/k/norm"}};
  const std::vector<std::pair<DerivedRange InverseRoot::*, std::string>> ranges{
      {&InverseRoot::root_remainder, "square root is not the largest"},
      {&InverseRoot::root_complement, "square root is not the largest"},
      {&InverseRoot::inverse_remainder, "remainder of the inverse is not below sigma"},
      {&InverseRoot::inverse_complement, "remainder of the inverse is not below sigma"}};
  for (const Root& root : roots) {
    for (const auto& [range, reason] : ranges) {
      // alone, or with the complement as the remainder has it
      Forgery forgery = forge(test, plan, {});
      ChunkedTensor<std::int64_t>& values = forgery.copy(&(*forgery.witness)[root.root.*range]);
      values.values()[filler_row] ^= 1;
      forgery.set_range(root.root.*range, values);
      forgery.recount();
      const Verdict verdict = verdict_of(forgery, plan);
      expect_rejected(verdict, root.scope);
      expect_reason(verdict, reason);
    }
    for (const auto& [remainder, complement] :
         {std::pair{&InverseRoot::root_remainder, &InverseRoot::root_complement},
          std::pair{&InverseRoot::inverse_remainder, &InverseRoot::inverse_complement}}) {
      Forgery forgery = forge(test, plan, {});
      ChunkedTensor<std::int64_t>& values = forgery.copy(&(*forgery.witness)[root.root.*remainder]);
      ChunkedTensor<std::int64_t>& others = forgery.copy(&(*forgery.witness)[root.root.*complement]);
      const std::int64_t by = others.values()[filler_row] > 0 ? 1 : -1;
      values.values()[filler_row] += by;
      others.values()[filler_row] -= by;
      forgery.set_range(root.root.*remainder, values);
      forgery.set_range(root.root.*complement, others);
      forgery.recount();
      expect_rejected(verdict_of(forgery, plan), root.scope + "/token");
    }
  }
}

TEST(LlamaValues, norm_of_another_tokens_x) {
  for (const RmsNormAt& norm : rms_norms_at) {
    SCOPED_TRACE(norm.name);
    const LlamaLiar liar = llama_lie(norm.stage, norm.block, [&](LlamaRun& run) {
      std::vector<std::int32_t> x = run.batch.x;
      const std::size_t n = run.batch.size;
      for (std::size_t f = 0; f < run.plan.model.n_embd; ++f) {
        run.batch.x[f * n + filler_row] = x[f * n + filler_row - 1];
      }
      renormalize(run, rms_norm(run.plan.*norm.plan), norm.block, 0, 0);
      run.batch.x = std::move(x);
    });
    expect_rejected(verdict_on(llama_model(biased), liar), norm.scope);
  }
}

// Queries, keys and values.

/// Exchanges rows of q (0) or k (1) of the filler's token, in trace and cache.
void exchange_rows(LlamaRun& run, std::size_t part, std::size_t a, std::size_t b, std::size_t rows) {
  const GroupedQkvPlan& qkv = grouped_qkv(run.plan);
  const auto cached = [&](std::size_t row) -> std::int16_t& {
    return part == 0 ? run.cache.q[row * run.batch.size + filler_row]
                     : run.cache.k[run.cache.block_offset(lied_block) + row * run.cache.capacity + filler_row];
  };
  for (std::size_t i = 0; i < rows; ++i) {
    const auto swap = [&](auto& tensor) {
      std::swap(block_row(tensor, lied_block, a + i)[filler_row], block_row(tensor, lied_block, b + i)[filler_row]);
    };
    swap(run.trace[qkv.value[part]]);
    swap(run.trace[qkv.remainder[part]]);
    std::swap(cached(a + i), cached(b + i));
  }
}

TEST(LlamaValues, rows_of_queries_and_keys_in_other_places) {
  for (const LlamaKind kind : {biased, normed}) {
    TestModel& test = llama_model(kind);
    const std::size_t m = test.model.shape.head_size();
    struct Exchange {
      const char* name;
      std::size_t part, a, b, rows;
    };
    for (const Exchange& lie :
         {Exchange{"halves of a query", 0, m, m + m / 2, m / 2}, Exchange{"halves of a key", 1, m, m + m / 2, m / 2},
          Exchange{"query heads of one group", 0, 0, m, m},
          Exchange{"query heads of two groups", 0, 0, test.model.shape.group() * m, m},
          Exchange{"key heads", 1, 0, m, m}}) {
      SCOPED_TRACE(std::string(llama_names[kind]) + ": " + lie.name);
      const LlamaLiar liar = llama_lie(LlamaStage::qkv, lied_block,
                                       [&](LlamaRun& run) { exchange_rows(run, lie.part, lie.a, lie.b, lie.rows); });
      expect_rejected(verdict_on(test, liar), std::string("/self_attention/qkv/") + qkv_names[lie.part] +
                                                  (kind == normed ? "/norm" : "/product"));
    }
  }
}

/// Attention that reads other rows than those that are proven.
TEST(LlamaValues, attention_to_other_heads) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    TestModel& test = llama_model(kind);
    const std::size_t m = test.model.shape.head_size();
    const auto exchange = [&](std::vector<std::int16_t> QkvCache::*rows, std::size_t offset, std::size_t stride,
                              LlamaRun& run) {
      auto& values = run.cache.*rows;
      const auto at = [&](std::size_t row) {
        return values.begin() + static_cast<std::ptrdiff_t>(offset + row * stride);
      };
      std::swap_ranges(at(0), at(m), at(m));
    };
    struct Reads {
      const char* name;
      std::function<void(LlamaRun&)> lie;
      const char* scope;
    };
    for (const Reads& lie :
         {Reads{"keys of another group",
                [&](LlamaRun& run) {
                  exchange(&QkvCache::k, run.cache.block_offset(lied_block), run.cache.capacity, run);
                },
                "/self_attention/attention/mask"},
          Reads{"values of another group",
                [&](LlamaRun& run) {
                  exchange(&QkvCache::v, run.cache.block_offset(lied_block), run.cache.capacity, run);
                },
                "/self_attention/attention/values"},
          Reads{"queries of another head of the group",
                [&](LlamaRun& run) { exchange(&QkvCache::q, 0, run.batch.size, run); },
                "/self_attention/attention/mask"}}) {
      SCOPED_TRACE(std::string(llama_names[kind]) + ": " + lie.name);
      expect_rejected(verdict_on(test, llama_lie(LlamaStage::qkv, lied_block, lie.lie)), lie.scope);
    }
  }
}

// The gated MLP.

/// Sums of a matrix of the MLP's first half for a token.
std::int64_t inner_sum(LlamaRun& run, ParameterId weight, std::size_t row, std::size_t token) {
  const auto weights = run.context.parameters[weight].block(lied_block).row(row);
  std::int64_t sum = 0;
  for (std::size_t f = 0; f < weights.size(); ++f) {
    sum += std::int64_t{weights[f]} * run.batch.u[f * run.batch.size + token];
  }
  return sum;
}

TEST(LlamaValues, false_gating) {
  for (const LlamaKind kind : {plain, normed}) {
    TestModel& test = llama_model(kind);
    struct Lie {
      const char* name;
      std::function<void(LlamaRun&, const GatedMlpPlan&)> lie;
      std::string scope;
    };
    const auto at = [](LlamaRun & run, const auto& tensor) -> auto& {
      return block_row(run.trace[tensor], lied_block, inner_row)[filler_row];
    };
    const std::string product = "/feed_forward/gated_mlp/product";
    for (const Lie& lie :
         {Lie{"a off by one", [&](LlamaRun&run, const GatedMlpPlan&mlp) { ++at(run, mlp.activation); }, lookup_scope},
          Lie{"z off by one",
              [&](LlamaRun&run, const GatedMlpPlan&mlp) {
                const std::int32_t z = ++at(run, mlp.z);
                at(run, mlp.activation) = test.key.gelu_table[static_cast<std::size_t>(z + (1 << (mlp.gate_bits - 1)))];
              },
              product},
          Lie{"U of the gate",
              [&](LlamaRun&run, const GatedMlpPlan&mlp) {
                at(run, mlp.up_sum) = inner_sum(run, w_gate, inner_row, filler_row);
              },
              product},
          Lie{"U of another token",
              [&](LlamaRun&run, const GatedMlpPlan&mlp) {
                at(run, mlp.up_sum) = inner_sum(run, w_up, inner_row, filler_row - 1);
              },
              product}}) {
      SCOPED_TRACE(std::string(llama_names[kind]) + ": " + lie.name);
      expect_rejected(verdict_on(test, llama_lie(LlamaStage::mlp, lied_block,
                                                 [&](LlamaRun& run) {
                                                   lie.lie(run, gated_mlp(run.plan));
                                                   redo_gating(run, lied_block, inner_row);
                                                 })),
                      lie.scope);
    }
  }
}

/// By other parameters, and proven as if they were the committed ones.
TEST(LlamaValues, gate_and_up_exchanged) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    TestModel& test = llama_model(kind);
    Parameters other = test.model.parameters;
    std::ranges::swap_ranges(other[w_gate].values(), other[w_up].values());
    const ModelPlan plan = llama_plan(test.key);
    LlamaLie lie = llama_inference(test, plan, {}, &other);
    Forgery forgery(test, lie.statement, plan, std::move(lie.trace));
    expect_rejected(verdict_of(forgery, plan), "/feed_forward/gated_mlp/product");
  }
}

TEST(LlamaValues, gated_product_off_by_one) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    SCOPED_TRACE(llama_names[kind]);
    TestModel& test = llama_model(kind);
    const auto by = [](std::int32_t difference) {
      return llama_lie(LlamaStage::mlp, lied_block,
                       [=](LlamaRun& run) { redo_gating(run, lied_block, inner_row, difference); });
    };
    expect_rejected(verdict_on(test, by(1)), lookup_scope);
    only_width_catches(test, by(-1), gated_mlp(llama_plan(test.key)).product_remainder, false);
  }
}

/// t's remainder, which is its layer's alone, inside its range.
TEST(LlamaValues, remainder_of_the_gated_product_is_bound) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    TestModel& test = llama_model(kind);
    const ModelPlan plan = llama_plan(test.key);
    const GatedMlpPlan& mlp = gated_mlp(plan);
    Forgery forgery = forge(test, plan, {});
    ChunkedTensor<std::int64_t>& remainders = forgery.zeros(mlp.inner);
    for (std::size_t i = 0; i < remainders.values().size(); ++i) {
      remainders.values()[i] =
          rshift(forgery.trace[mlp.activation].values()[i] * forgery.trace[mlp.up_sum].values()[i], mlp.shift_product)
              .remainder;
    }
    forgery.set_range(mlp.product_remainder, remainders);
    forgery.recount();
    expect_accepted(verdict_of(forgery, plan));
    block_row(remainders, lied_block, inner_row)[filler_row] ^= 1;
    forgery.set_range(mlp.product_remainder, remainders);
    forgery.recount();
    expect_rejected(verdict_of(forgery, plan), "/feed_forward/gated_mlp/gating");
  }
}

// The embedding.

TEST(LlamaValues, embedding_of_another_token) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    SCOPED_TRACE(llama_names[kind]);
    const LlamaLiar liar = llama_lie(LlamaStage::embedding, 0, [](LlamaRun& run) {
      const std::size_t n = run.batch.size;
      auto& remainders = run.trace[run.plan.embedding.remainder];
      for (std::size_t f = 0; f < run.plan.model.n_embd; ++f) {
        run.batch.x[f * n + filler_row] = run.batch.x[f * n + 1];
        block_row(remainders, 0, f)[filler_row] = block_row(remainders, 0, f)[1];
      }
    });
    expect_rejected(verdict_on(llama_model(kind), liar), opening_scope);
  }
}

TEST(LlamaValues, embedding_off_by_one) {
  TestModel& test = llama_model(biased);
  const LlamaLiar liar =
      llama_lie(LlamaStage::embedding, 0, [](LlamaRun& run) { --run.batch.x[3 * run.batch.size + filler_row]; });
  expect_rejected(verdict_on(test, liar), opening_scope);
  const EmbeddingPlan embedding = llama_plan(test.key).embedding;
  only_width_catches(test, liar, embedding.remainder, false, [&](Forgery& forgery) {
    ChunkedTensor<std::int64_t>& remainders = forgery.copy(forgery.trace.view(embedding.remainder.recorded));
    block_row(remainders, 0, 3)[filler_row] += std::int64_t{1} << embedding.shift;
    forgery.set_range(embedding.remainder, remainders);
  });
}

}  // namespace
}  // namespace tessera::test
