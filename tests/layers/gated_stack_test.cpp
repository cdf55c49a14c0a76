#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "cluster/thread_communicator.hpp"

#include "gated_stack.hpp"

namespace tessera::test {
namespace {

bool holds(const Handed& handed, Communicator& comm) {
  return weighted_sum(handed.tensor, *handed.shape, handed.claim.weight, comm) == handed.claim.value;
}

/// A true claim with random weights.
WeightedClaim random_claim(const IntegerTensor& tensor, const Shape& shape, std::uint64_t from, Communicator& comm) {
  std::vector<Factor> weight = weight_at(RandomElements(from).point(shape));
  const E value = weighted_sum(tensor, shape, weight, comm);
  return {std::move(weight), value};
}

struct StackLayer {
  const char* name;
  std::function<void(ProverContext&, const StackCase&)> prove;
  std::function<std::vector<Handed>(VerifierContext<E>&, const StackCase&)> verify;
};

StackLayer rms_norm(const char* name, RmsNormPlan GatedStack::*norm) {
  const auto consumers = [norm](const StackCase& data) {
    const RmsNormPlan& plan = data.plan.*norm;
    const IntegerTensor u = data.witness->view(plan.u);
    return std::vector<WeightedClaim>{random_claim(u, plan.activation, 41, data.comm),
                                      random_claim(u, plan.activation, 42, data.comm)};
  };
  return {name, [=](ProverContext& context, const StackCase& data) { run(context, data.plan.*norm, consumers(data)); },
          [=](VerifierContext<E>& context, const StackCase& data) -> std::vector<Handed> {
            run(context, data.plan.*norm, consumers(data));
            return {};
          }};
}

std::vector<StackLayer> stack_layers() {
  return {rms_norm("norm", &GatedStack::norm),
          rms_norm("final norm", &GatedStack::norm_final),
          {"gated_mlp", [](ProverContext& context, const StackCase& data) { run(context, data.plan.mlp); },
           [](VerifierContext<E>& context, const StackCase& data) {
             std::vector<Handed> handed;
             for (WeightedClaim& claim : run(context, data.plan.mlp)) {
               handed.push_back({data.witness->view(data.plan.norm.u), &data.plan.mlp.feature, std::move(claim)});
             }
             EXPECT_EQ(handed.size(), 2U);
             return handed;
           }},
          {"embedding", [](ProverContext& context, const StackCase& data) { run(context, data.plan.embedding); },
           [](VerifierContext<E>& context, const StackCase& data) -> std::vector<Handed> {
             run(context, data.plan.embedding);
             return {};
           }}};
}

std::vector<std::uint8_t> prove(const StackLayer& layer, const StackCase& data) {
  ProverTranscript transcript(layer_seed);
  ClaimLedger ledger;
  ProverContext context{data.plan, data.statement, transcript, *data.lookup, ledger, *data.witness, data.comm};
  layer.prove(context, data);
  return transcript.payload();
}

/// The scope of a rejection, "" if the layer accepts and leaves true claims, "claim" if a claim is false.
std::string verdict(const StackLayer& layer, const StackCase& data, std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(layer_seed, payload);
  ClaimLedger ledger;
  VerifierContext context{data.plan, data.statement, transcript, *data.lookup, ledger};
  try {
    const std::vector<Handed> handed = layer.verify(context, data);
    transcript.finish();
    return claims_hold(data.plan, *data.witness, ledger, data.comm) &&
                   std::ranges::all_of(handed, [&](const Handed& claim) { return holds(claim, data.comm); })
               ? ""
               : "claim";
  } catch (const Rejected& rejected) {
    return rejected.scope();
  }
}

const StackSize small_stack{{2, 6, 2, 8, 9, 8}, 3, 2, 16};
const StackSize odd_stack{{2, 36, 3, 144, 300, 48}, 7, 1, 20};
const StackSize whole_stack{{3, 32, 4, 96, 130, 64}, 4, 0, 24};
const StackSize straddling_stack{{1, 80, 2, 100, 70, 32}, 13, 2, 16};
const StackSize stack_in_chunks{{2, 36, 3, 80, 70, 48}, 35, 2, 16};  // of rows: three

class GatedStackTest : public ::testing::TestWithParam<StackSize> {};

TEST_P(GatedStackTest, layers_are_accepted_and_leave_true_claims_on_any_number_of_ranks) {
  SelfCommunicator self;
  const StackCase data(GetParam(), self);
  std::vector<std::vector<std::uint8_t>> payloads;
  for (const StackLayer& layer : stack_layers()) {
    SCOPED_TRACE(layer.name);
    payloads.push_back(prove(layer, data));
    EXPECT_EQ(verdict(layer, data, payloads.back()), "");
  }
  ClaimLedger ledger;
  data.lookup->add_claims(ledger);
  EXPECT_TRUE(claims_hold(data.plan, *data.witness, ledger, self));
  for (int ranks = 2; ranks <= 3; ++ranks) {
    run_ranks(ranks, [&](Communicator& comm) {
      omp_set_num_threads(1);
      const StackCase part(GetParam(), comm);
      const std::vector<StackLayer> layers = stack_layers();
      for (std::size_t i = 0; i < layers.size(); ++i) {
        EXPECT_TRUE(prove(layers[i], part) == payloads[i]) << layers[i].name << " on " << ranks;
      }
    });
  }
}

std::int64_t rounded(std::int64_t value, int shift) {
  return shift == 0 ? value : (value + (std::int64_t{1} << (shift - 1))) >> shift;
}

std::vector<std::int64_t> naive_norm(const std::vector<std::int64_t>& x, const RmsNormPlan& norm,
                                     std::span<const std::int16_t> gamma) {
  std::int64_t variance = norm.epsilon;
  for (const std::int64_t value : x) {
    variance += value * value;
  }
  const std::int64_t inverse = norm.norm_numerator / floor_sqrt(variance);
  std::vector<std::int64_t> u;
  for (std::size_t f = 0; f < x.size(); ++f) {
    u.push_back(rounded(x[f] * inverse * gamma[f], norm.shift));
  }
  return u;
}

std::vector<std::int64_t> naive_product(const RowBlock<const std::int16_t>& weights,
                                        const std::vector<std::int64_t>& input, std::size_t rows) {
  std::vector<std::int64_t> out;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto weight = weights.row(row);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
      sum += weight[i] * input[i];
    }
    out.push_back(sum);
  }
  return out;
}

TEST_P(GatedStackTest, integers_by_definition) {
  SelfCommunicator self;
  StackCase data(GetParam(), self);
  const GatedStack& plan = data.plan;
  const Parameters& parameters = data.model.parameters;
  const auto& shape = data.model.shape;
  const auto column = [](auto& tensor, std::size_t block, std::size_t rows, std::size_t token) {
    std::vector<std::int64_t> values;
    for (std::size_t f = 0; f < rows; ++f) {
      values.push_back(block_row(tensor, block, f)[token]);
    }
    return values;
  };
  for (std::size_t t = 0; t < data.tokens.size(); ++t) {
    std::vector<std::int64_t> x;
    for (const std::int16_t value : parameters[embedding].block(0).row(data.tokens[t])) {
      x.push_back(rounded(value, plan.embedding.shift));
    }
    for (std::size_t b = 0; b < plan.blocks; ++b) {
      EXPECT_EQ(column(data.trace[plan.x_in], b, shape.n_embd, t), x);
      const auto u = naive_norm(x, plan.norm, parameters[gamma2].block(b).rows({0, shape.n_embd}));
      EXPECT_EQ(column(data.trace[plan.norm.u], b, shape.n_embd, t), u);
      const auto sums = naive_product(parameters[w1].block(b), u, shape.n_inner);
      std::vector<std::int64_t> product;
      for (const std::int64_t sum : sums) {
        const std::int64_t a = data.table()[static_cast<std::size_t>(rounded(sum, plan.mlp.shift_gate) + (1 << 15))];
        product.push_back(rounded(a * sum, plan.mlp.shift_product));
      }
      EXPECT_EQ(column(data.trace[plan.mlp.product], b, shape.n_inner, t), product);
      const auto update = naive_product(parameters[w2].block(b), product, shape.n_embd);
      for (std::size_t f = 0; f < x.size(); ++f) {
        x[f] += rounded(update[f], plan.mlp.shift_down);
      }
    }
    EXPECT_EQ(column(data.trace[plan.x_end], 0, shape.n_embd, t), x);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GatedStackTest,
                         ::testing::Values(small_stack, odd_stack, whole_stack, straddling_stack, stack_in_chunks));

TEST(GatedStack, every_altered_message_is_rejected_or_leaves_a_false_claim) {
  SelfCommunicator self;
  const StackCase data(small_stack, self);
  for (const StackLayer& layer : stack_layers()) {
    SCOPED_TRACE(layer.name);
    const std::vector<std::uint8_t> payload = prove(layer, data);
    for (std::size_t word = 0; word < payload.size() / 8; ++word) {
      std::vector<std::uint8_t> altered = payload;
      altered[8 * word] ^= 1;
      EXPECT_NE(verdict(layer, data, altered), "") << word;
    }
  }
}

/// Values one too large: whatever range they keep, an identity is false.
TEST(GatedStack, false_integers_are_rejected_where_they_belong) {
  SelfCommunicator self;
  const auto raise = [](auto handle, std::size_t outer) {
    return [=](StackCase& data) {
      auto row = block_row(data.trace[handle(data.plan)], outer, 3);
      ++row[1];
    };
  };
  struct Lie {
    const char* name;
    const char* layer;
    std::function<void(StackCase&)> lie;
    const char* where;
  };
  const std::vector<Lie> lies{
      {"u", "norm", raise([](const GatedStack& p) { return Recorded<std::int16_t>(p.norm.u); }, 1), "/rms_norm"},
      {"u of the final norm", "final norm",
       raise([](const GatedStack& p) { return Recorded<std::int16_t>(p.norm_final.u); }, 0), "/rms_norm"},
      {"z", "gated_mlp", raise([](const GatedStack& p) { return p.mlp.z; }, 1), "/gated_mlp/product"},
      {"U", "gated_mlp", raise([](const GatedStack& p) { return p.mlp.up_sum; }, 1), "/gated_mlp/product"},
      {"x_end", "gated_mlp", raise([](const GatedStack& p) { return Recorded<std::int32_t>(p.x_end); }, 0),
       "/gated_mlp/product"},
      {"remainder of the embedding", "embedding",
       raise([](const GatedStack& p) { return Recorded<std::uint16_t>(p.embedding.remainder); }, 0), "claim"},
  };
  for (const Lie& lie : lies) {
    SCOPED_TRACE(lie.name);
    const StackCase data(odd_stack, self, lie.lie);
    for (const StackLayer& layer : stack_layers()) {
      if (std::string(layer.name) == lie.layer) {
        EXPECT_THAT(verdict(layer, data, prove(layer, data)), ::testing::HasSubstr(lie.where));
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
