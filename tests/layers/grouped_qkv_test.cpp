#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"

#include "grouped_qkv_case.hpp"

namespace tessera::test {
namespace {

/// Row of a parameter from the indices of its row dimensions.
std::size_t row_of(const std::vector<Dimension>& dimensions, const std::vector<std::size_t>& index, std::size_t last) {
  std::size_t row = 0;
  for (std::size_t j = 1; j < last; ++j) {
    row = row * dimensions[j].length + index[j];
  }
  return row;
}

bool inside(const std::vector<Dimension>& dimensions, const std::vector<std::size_t>& index) {
  for (std::size_t j = 0; j < index.size(); ++j) {
    if (index[j] >= dimensions[j].length) {
      return false;
    }
  }
  return true;
}

const Statement no_statement{};

struct ProvenQkv {
  std::vector<std::uint8_t> payload;
  ClaimLedger ledger;
  std::vector<WeightedClaim> handed;
};

/// `qkv`: what the prover believes.
ProvenQkv prove(const GroupedQkvCase& data, const GroupedQkvPlan& qkv) {
  ProvenQkv proven{{}, ClaimLedger(data.plan.pass), {}};
  ProverTranscript transcript(layer_seed);
  ProverContext context{data.plan, no_statement, transcript, data.lookup(), proven.ledger, data.witness(), data.comm};
  proven.handed = run(context, qkv, data.consumers());
  proven.payload = transcript.payload();
  return proven;
}

struct Verdict {
  bool accepted = false;     // nothing was rejected
  bool true_claims = false;  // and all claims left hold
  std::string why;
};

Verdict verify(const GroupedQkvCase& data, std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(layer_seed, payload);
  ClaimLedger ledger(data.plan.pass);
  VerifierContext context{data.plan, no_statement, transcript, data.lookup(), ledger};
  try {
    const std::vector<WeightedClaim> handed = run(context, data.plan.qkv, data.consumers());
    transcript.finish();
    return {true, data.holds(ledger, handed), {}};
  } catch (const Rejected& rejected) {
    return {false, false, rejected.scope() + ": " + rejected.what()};
  }
}

// halves of 4; of 3 (padded) with heads that share keys, 3 heads in 4 places; one query head a key, one place a half;
// a continuation whose filler lies behind the last position; three chunks of rows
const std::vector<GroupedQkvSize> qkv_sizes{{2, 24, 2, 1, 4, 16, 0, 8},
                                            {3, 40, 3, 2, 3, 20, 0, 5},
                                            {1, 12, 1, 5, 1, 8, 0, 3, false},
                                            {2, 80, 2, 3, 6, 13, 7, 5},
                                            {2, 40, 2, 2, 3, 48, 6, 33}};

TEST(GroupedQkv, inference_follows_the_formulas) {
  SelfCommunicator self;
  for (const GroupedQkvSize& size : qkv_sizes) {
    const GroupedQkvCase data(size, self);
    std::size_t checked = 0;
    for (std::size_t part = 0; part < 3; ++part) {
      const Shape& shape = data.plan.qkv.shape[part];
      const auto& values = data.trace()[data.plan.qkv.value[part]];
      for (const Entry& entry : all_entries(shape)) {
        if (!entry.present) {
          continue;
        }
        const bool real = inside(shape.dimensions(), entry.index);
        const std::size_t row = row_of(shape.dimensions(), entry.index, entry.index.size() - 1);
        ASSERT_EQ(values.chunk(entry.chunk)[entry.place],
                  real ? data.expected(part, entry.index[0], row, entry.index.back()) : 0);
        checked += real ? 1 : 0;
        if (real && part > 0) {
          const auto& kept = part == 1 ? data.cache.k : data.cache.v;
          EXPECT_EQ(kept[data.cache.block_offset(entry.index[0]) + row * data.cache.capacity + size.past +
                         entry.index.back()],
                    values.chunk(entry.chunk)[entry.place]);
        }
      }
    }
    EXPECT_EQ(checked, size.blocks * size.heads * (size.group + 2) * size.head_size() * data.plan.rows);
  }
}

TEST(GroupedQkv, is_accepted_and_leaves_true_claims) {
  SelfCommunicator self;
  for (const GroupedQkvSize& size : qkv_sizes) {
    const GroupedQkvCase data(size, self);
    const ProvenQkv proven = prove(data, data.plan.qkv);
    EXPECT_TRUE(data.holds(proven.ledger, proven.handed));
    const Verdict verdict = verify(data, proven.payload);
    EXPECT_TRUE(verdict.accepted) << verdict.why;
    EXPECT_TRUE(verdict.true_claims);
    EXPECT_EQ(proven.handed.size(), 3U);
  }
}

TEST(GroupedQkv, bytes_do_not_depend_on_ranks) {
  SelfCommunicator self;
  const GroupedQkvSize& size = qkv_sizes[1];
  const GroupedQkvCase alone(size, self);
  const std::vector<std::uint8_t> expected = prove(alone, alone.plan.qkv).payload;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Communicator& comm) {
      const GroupedQkvCase data(size, comm);
      EXPECT_TRUE(prove(data, data.plan.qkv).payload == expected) << ranks;
    });
  }
}

TEST(GroupedQkv, every_altered_message_is_rejected_or_leaves_a_false_claim) {
  SelfCommunicator self;
  const GroupedQkvCase data({2, 6, 2, 2, 2, 8, 0, 2}, self);
  const ProvenQkv proven = prove(data, data.plan.qkv);
  ASSERT_TRUE(verify(data, proven.payload).true_claims);
  for (std::size_t word = 0; word < proven.payload.size() / 8; ++word) {
    std::vector<std::uint8_t> altered = proven.payload;
    altered[8 * word] ^= 1;
    EXPECT_FALSE(verify(data, altered).true_claims) << word;
  }
}

TEST(GroupedQkv, another_rotation_is_rejected) {
  SelfCommunicator self;
  const auto with_table = [](Rotary& rotary, const std::function<void(std::vector<std::int16_t>&)>& change) {
    auto table = std::make_shared<std::vector<std::int16_t>>(*rotary.tables);
    change(*table);
    rotary.tables = table;
  };
  const std::vector<RotationLie> lies{
      {"one position later", [](Rotary& rotary) { ++rotary.past; }},
      {"positions of a beginning or another one", [](Rotary& rotary) { rotary.past = rotary.past == 0 ? 3 : 0; }},
      {"another angle",
       [&](Rotary& rotary) {
         with_table(rotary, [&](auto& table) { table = rotary_table({.theta = 2e3}, rotary.half, rotary.positions); });
       }},
      {"turned the other way",
       [&](Rotary& rotary) {
         with_table(rotary, [](auto& table) {
           std::for_each(table.begin() + static_cast<std::ptrdiff_t>(table.size() / 2), table.end(),
                         [](std::int16_t& sin) { sin = static_cast<std::int16_t>(-sin); });
         });
       }},
      {"not turned",
       [&](Rotary& rotary) {
         with_table(rotary, [](auto& table) {
           std::fill_n(table.begin(), table.size() / 2, std::int16_t{1 << rotation_exponent});
           std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(table.size() / 2), table.size() / 2,
                       std::int16_t{0});
         });
       }},
      {"one entry off by one in a row",
       [&](Rotary& rotary) { with_table(rotary, [&](auto& table) { ++table[(rotary.past + 1) * rotary.half + 1]; }); }},
      {"halves exchanged", [](Rotary&) {}, true},
  };
  for (const GroupedQkvSize& size : {qkv_sizes[1], qkv_sizes[3]}) {
    for (const RotationLie& lie : lies) {
      SCOPED_TRACE(lie.name);
      const GroupedQkvCase data(size, self, lie);
      // a prover that follows the protocol on false values, and one that is consistent with its lie
      const Verdict honest = verify(data, prove(data, data.plan.qkv).payload);
      EXPECT_FALSE(honest.accepted);
      EXPECT_THAT(honest.why, ::testing::HasSubstr("product")) << honest.why;
      if (!lie.halves_exchanged) {
        GroupedQkvPlan believed = data.plan.qkv;
        lie.rotary(believed.rotary);
        const Verdict consistent = verify(data, prove(data, believed).payload);
        EXPECT_FALSE(consistent.accepted);
        EXPECT_THAT(consistent.why, ::testing::HasSubstr("rotation")) << consistent.why;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
