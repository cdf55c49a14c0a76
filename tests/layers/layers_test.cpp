#include <gtest/gtest.h>
#include <omp.h>

#include "cluster/thread_communicator.hpp"

#include "layer_case.hpp"

namespace tessera::test {
namespace {

// odd_heads: of 12, one padded feature chunk. straddling_heads: of 40 in feature chunks of 16. tiles: absent score
// tiles.
const LayerCase::Size odd_heads{{2, 36, 3, 144, 300, 48}, 5, 3};
const LayerCase::Size whole_heads{{3, 32, 4, 96, 130, 64}, 4, 1};
const LayerCase::Size straddling_heads{{1, 80, 2, 100, 70, 32}, 9, 5};
const LayerCase::Size tiles{{2, 24, 3, 32, 65, 512}, 140, 4};
const LayerCase::Size row_chunks{{2, 36, 3, 80, 70, 48}, 28, 5};  // of rows: three

// models of the Llama family: three query heads a key/value head and m = 10; biases and a head of its own; norms on
// heads, m a power of two, several score tiles
constexpr auto llama = rotary_layers;
const LayerCase::Size grouped{{2, 12, 6, 20, 30, 16, llama, 2, 10, true, false, false}, 5, 3};
const LayerCase::Size biased{{3, 20, 4, 28, 40, 24, llama, 4, 6, false, true, false}, 4, 2};
const LayerCase::Size normed{{2, 16, 6, 70, 30, 256, llama, 3, 8, false, false, true}, 131, 3};
const LayerCase::Size biased_chunks{{2, 20, 4, 28, 40, 48, llama, 2, 6, false, true, false}, 30, 3};

struct ProvenLayer {
  std::vector<std::uint8_t> payload;
  ClaimLedger ledger;
  E after;  // a challenge drawn at the end
};

ProvenLayer prove(const Layer& layer, const LayerCase& data) {
  ProvenLayer proven;
  ProverTranscript transcript(layer_seed);
  ProverContext context{data.plan, data.statement, transcript, data.lookup, proven.ledger, data.witness, data.comm};
  layer.prove(context, data);
  proven.payload = transcript.payload();
  proven.after = transcript.challenge("after");
  return proven;
}

/// Whether the layer accepts the payload and all claims that it leaves are true.
bool accepted_with_true_claims(const Layer& layer, const LayerCase& data, std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(layer_seed, payload);
  ClaimLedger ledger;
  VerifierContext context{data.plan, data.statement, transcript, data.lookup, ledger};
  try {
    const std::vector<Handed> handed = layer.verify(context, data);
    transcript.finish();
    return data.holds(ledger) && std::ranges::all_of(handed, [&](const Handed& claim) { return data.holds(claim); });
  } catch (const Rejected&) {
    return false;
  }
}

void expect_equal(const std::vector<Claim>& a, const std::vector<Claim>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tensor, b[i].tensor);
    EXPECT_EQ(a[i].value, b[i].value);
    ASSERT_EQ(a[i].weight.size(), b[i].weight.size());
    for (std::size_t j = 0; j < a[i].weight.size(); ++j) {
      EXPECT_EQ(a[i].weight[j].head, b[i].weight[j].head);
      EXPECT_EQ(a[i].weight[j].tail, b[i].weight[j].tail);
    }
  }
}

class Layers : public ::testing::TestWithParam<LayerCase::Size> {};

TEST_P(Layers, each_layer_is_accepted_and_leaves_true_claims) {
  SelfCommunicator self;
  const LayerCase data(GetParam(), self);
  for (const Layer& layer : all_layers()) {
    SCOPED_TRACE(layer.name);
    const ProvenLayer proven = prove(layer, data);
    if (!accepted_with_true_claims(layer, data, proven.payload)) {
      ADD_FAILURE() << "rejected, or a claim is false";
      continue;
    }
    // both sides leave the same claims and the same transcript
    VerifierTranscript transcript(layer_seed, proven.payload);
    ClaimLedger ledger;
    VerifierContext context{data.plan, data.statement, transcript, data.lookup, ledger};
    (void)layer.verify(context, data);
    expect_equal(ledger[parameter_oracle], proven.ledger[parameter_oracle]);
    expect_equal(ledger[witness_oracle], proven.ledger[witness_oracle]);
    EXPECT_EQ(transcript.challenge("after"), proven.after);
  }
}

TEST_P(Layers, the_look_up_leaves_true_claims) {
  SelfCommunicator self;
  const LayerCase data(GetParam(), self);
  ClaimLedger ledger;
  data.lookup.add_claims(ledger);
  EXPECT_TRUE(data.holds(ledger));
  EXPECT_TRUE(ledger[parameter_oracle].empty());
  std::vector<bool> claimed(data.plan.witness_shapes.size());
  for (const Claim& claim : ledger[witness_oracle]) {
    claimed[claim.tensor] = true;
  }
  for (std::size_t tensor = 0; tensor < claimed.size(); ++tensor) {
    // the chosen logits are bound by the logits layer alone
    EXPECT_EQ(claimed[tensor], tensor != data.plan.logits.token_logit) << data.plan.witness_names[tensor];
  }
}

TEST_P(Layers, bytes_do_not_depend_on_ranks) {
  SelfCommunicator self;
  std::vector<std::vector<std::uint8_t>> expected;
  const LayerCase alone(GetParam(), self);
  for (const Layer& layer : all_layers()) {
    expected.push_back(prove(layer, alone).payload);
  }
  for (int ranks = 2; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Communicator& comm) {
      omp_set_num_threads(1 + ranks % 2);
      const LayerCase data(GetParam(), comm);
      const std::vector<Layer> layers = all_layers();
      for (std::size_t i = 0; i < layers.size(); ++i) {
        EXPECT_TRUE(prove(layers[i], data).payload == expected[i]) << layers[i].name << " on " << ranks;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Layers,
                         ::testing::Values(odd_heads, whole_heads, straddling_heads, tiles, row_chunks, grouped, biased,
                                           normed, biased_chunks));

class SmallLayers : public ::testing::TestWithParam<LayerCase::Size> {};

INSTANTIATE_TEST_SUITE_P(Models, SmallLayers,
                         ::testing::Values(LayerCase::Size{{2, 6, 2, 8, 9, 8}, 2, 2},
                                           LayerCase::Size{{2, 6, 2, 8, 9, 8, llama, 1, 6, true, true, false}, 2, 2},
                                           LayerCase::Size{{1, 6, 2, 8, 9, 8, llama, 2, 4, false, false, true}, 2, 2}));

TEST_P(SmallLayers, every_altered_message_is_rejected_or_leaves_a_false_claim) {
  SelfCommunicator self;
  const LayerCase data(GetParam(), self);
  for (const Layer& layer : all_layers()) {
    SCOPED_TRACE(layer.name);
    const ProvenLayer proven = prove(layer, data);
    ASSERT_TRUE(accepted_with_true_claims(layer, data, proven.payload));
    for (std::size_t word = 0; word < proven.payload.size() / 8; ++word) {
      std::vector<std::uint8_t> altered = proven.payload;
      altered[8 * word] ^= 1;
      EXPECT_FALSE(accepted_with_true_claims(layer, data, altered)) << word;
    }
  }
}

TEST(Layers, a_message_too_few_or_too_many_is_rejected) {
  SelfCommunicator self;
  const LayerCase data({{1, 6, 2, 8, 9, 8}, 2, 2}, self);
  for (const Layer& layer : all_layers()) {
    SCOPED_TRACE(layer.name);
    std::vector<std::uint8_t> payload = prove(layer, data).payload;
    payload.insert(payload.end(), 16, 0);
    EXPECT_FALSE(accepted_with_true_claims(layer, data, payload));
    payload.resize(payload.size() - 32);
    EXPECT_FALSE(accepted_with_true_claims(layer, data, payload));
  }
}

}  // namespace
}  // namespace tessera::test
