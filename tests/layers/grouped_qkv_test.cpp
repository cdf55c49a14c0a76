#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arithmetic/rotary_table.hpp"
#include "cluster/thread_communicator.hpp"
#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"
#include "plan/prover_context.hpp"
#include "subprotocols/inference.hpp"
#include "tensor/contract.hpp"

#include "layer_case.hpp"

namespace tessera {
namespace {

using testing::all_entries;
using testing::Entry;
using testing::RandomElements;

struct Size {
  std::size_t blocks, features, heads, group, half, positions, past, rows;
  bool biases = true;
  [[nodiscard]] std::size_t head_size() const { return 2 * half; }
};

ModelShape model_of(const Size& size) {
  ModelShape shape{size.blocks, size.features, size.heads * size.group, 4, 10, size.positions, Architecture::llama};
  shape.n_kv_head = size.heads;
  shape.head_dim = size.head_size();
  shape.qkv_bias = size.biases;
  return shape;
}

VerifyingKey key_of(const Size& size) {
  VerifyingKey key;
  key.shape = model_of(size);
  key.filler = 9;
  return key;
}

/// The layer alone, on recorded inputs.
struct GroupedPlan : Plan {
  Recorded<std::int16_t> u;
  GroupedQkvPlan qkv;

  explicit GroupedPlan(const Size& size)
      : Plan(key_of(size), {.prompt = size.rows - 1, .generated = 1, .past = size.past}) {
    Builder builder(*this);
    const Dimension block = Dimension::outer(size.blocks);
    const Dimension feature = Dimension::tiled(size.features);
    const Dimension head = Dimension::outer(size.heads);
    const Dimension group = Dimension::outer(size.group);
    const Dimension half{2, 1};
    const Dimension place = Dimension::whole(size.half);
    const Dimension whole = Dimension::whole(size.head_size());
    const Dimension token = Dimension::whole(padded_tokens);
    GroupedQkvSpec spec;
    spec.feature = Shape({block, feature, token});
    u = builder.record<std::int16_t>("u", spec.feature, {1});
    spec.shape = {Shape({block, head, group, half, place, token}), Shape({block, head, half, place, token}),
                  Shape({block, head, whole, token})};
    spec.weight = {wq, wk, wv};
    if (size.biases) {
      spec.bias = {bq, bk, bv};
    }
    spec.shift = {31, 30, 15};
    spec.bias_shift = {10, 9, 8};
    spec.rotary = {std::make_shared<std::vector<std::int16_t>>(rotary_table({.theta = 1e3}, size.half, size.positions)),
                   size.positions, size.half, past};
    spec.u = u;
    qkv = GroupedQkvPlan::declare(builder, std::move(spec));
    builder.finish_tables();
    const Dimension all = Dimension::whole(size.positions);
    pack_model(model_of(size), {Shape({block, head, half, place, all}), Shape({block, head, whole, all})});
  }
};

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

/// What a false inference does.
struct Lie {
  const char* name;
  std::function<void(Rotary&)> rotary = [](Rotary&) {};
  bool halves_exchanged = false;
};

class GroupedCase {
 public:
  GroupedCase(const Size& dimensions, Communicator& communicator, const Lie& lie = {"none"})
      : size(dimensions),
        comm(communicator),
        plan(dimensions),
        parameters_(model_of(size)),
        trace_(plan, comm.rank(), comm.size()) {
    std::mt19937_64 engine(17);
    const auto fill = [&](std::span<std::int16_t> values, int bits) {
      for (std::int16_t& value : values) {
        value = static_cast<std::int16_t>(static_cast<int>(engine() >> (64 - bits)) - (1 << (bits - 1)));
      }
    };
    for (const ParameterId id : {wq, wk, wv}) {
      fill(parameters_[id].values(), 16);
    }
    for (const ParameterId id : {bq, bk, bv}) {
      if (size.biases) {
        fill(parameters_[id].values(), 16);
      }
    }
    tensors_ = ParameterTensors::of(model_of(size), parameters_, comm.rank(), comm.size());
    inputs_.resize(size.blocks * size.features * plan.padded_tokens);
    fill(inputs_, 12);
    infer_all(lie);
    witness_ = std::make_unique<Witness>(plan, trace_, tensors_, comm);
    witness_->finish(comm);
    lookup_ = std::make_unique<LookupValues>(plan, testing::true_lookup(plan, *witness_, comm));
  }

  [[nodiscard]] const LookupValues& lookup() const { return *lookup_; }
  [[nodiscard]] const Witness& witness() const { return *witness_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }

  /// True claims on q, k and v with weights of all kinds.
  [[nodiscard]] QkvClaims consumers() const {
    QkvClaims claims;
    for (std::size_t i = 0; i < 3; ++i) {
      RandomElements random(50 + i);
      for (std::size_t n = 0; n <= i; ++n) {
        std::vector<Factor> weight = weight_at(random.point(plan.qkv.shape[i]));
        weight.back() = Factor::of(weight.back().table());
        const E value = weighted_sum(witness_->view(plan.qkv.value[i]), plan.qkv.shape[i], weight, comm);
        claims[i].push_back({std::move(weight), value});
      }
    }
    return claims;
  }

  [[nodiscard]] bool holds(const ClaimLedger& ledger, const std::vector<WeightedClaim>& handed) const {
    return testing::claims_hold(plan, *witness_, ledger, comm) &&
           std::ranges::all_of(handed, [&](const WeightedClaim& claim) {
             return weighted_sum(witness_->view(plan.u), plan.qkv.feature, claim.weight, comm) == claim.value;
           });
  }

  /// q, k, v by their formulas.
  [[nodiscard]] std::int64_t expected(std::size_t part, std::size_t block, std::size_t row, std::size_t t) const {
    const std::size_t m = size.head_size();
    const auto sum = [&](std::size_t r) {
      std::int64_t total = 0;
      for (std::size_t f = 0; f < size.features; ++f) {
        total += std::int64_t{parameters_[plan.qkv.weight[part]].block(block).row(r)[f]} *
                 inputs_[(block * size.features + f) * plan.padded_tokens + t];
      }
      if (size.biases) {
        total += std::int64_t{parameters_[std::array{bq, bk, bv}[part]].block(block).row(r)[0]}
                 << plan.qkv.bias_shift[part];
      }
      return total;
    };
    std::int64_t value = sum(row);
    if (part < 2) {
      const std::size_t position = std::min(size.past + t, size.positions - 1);
      const std::size_t i = row % m % size.half;
      const auto& table = *plan.qkv.rotary.table;
      const std::int64_t cos = table[position * size.half + i];
      const std::int64_t sin = table[(size.positions + position) * size.half + i];
      value = row % m < size.half ? value * cos - sum(row + size.half) * sin : value * cos + sum(row - size.half) * sin;
    }
    return (value + (std::int64_t{1} << (plan.qkv.shift[part] - 1))) >> plan.qkv.shift[part];
  }

  Size size;
  Communicator& comm;
  GroupedPlan plan;
  QkvCache cache;

 private:
  void infer_all(const Lie& lie) {
    RangeGuard guard;
    const InferenceContext context{parameters_, comm, guard, &trace_, plan.padded_tokens, plan.past};
    cache = QkvCache(context.owned(plan.qkv.shape[0]), context.owned(plan.qkv.shape[1]), size.blocks, plan.past,
                     plan.past + plan.padded_tokens);
    GroupedQkvPlan qkv = plan.qkv;
    lie.rotary(qkv.rotary);
    const std::size_t n = plan.padded_tokens;
    for (std::size_t block = 0; block < size.blocks; ++block) {
      for (std::size_t f = 0; f < size.features; ++f) {
        if (context.owned(plan.qkv.feature.dimensions()[1]).contains(f)) {
          std::copy_n(inputs_.data() + (block * size.features + f) * n, n, trace_row(trace_[plan.u], block, f));
        }
      }
      // in two batches, one of them narrow
      const std::size_t first_size = n > 1 ? n - 1 : n;
      for (const auto& [first, count] :
           {std::pair{std::size_t{0}, first_size}, std::pair{first_size, n - first_size}}) {
        if (count == 0) {
          continue;
        }
        Batch batch;
        batch.first = first;
        batch.size = count;
        for (std::size_t f = 0; f < size.features; ++f) {
          const auto row = inputs_.begin() + static_cast<std::ptrdiff_t>((block * size.features + f) * n + first);
          batch.u.insert(batch.u.end(), row, row + static_cast<std::ptrdiff_t>(count));
        }
        infer(context, qkv, block, batch, cache);
        guard.agree(comm);
      }
    }
    if (lie.halves_exchanged) {
      exchange(trace_[plan.qkv.value[0]]);
      exchange(trace_[plan.qkv.remainder[0]]);
    }
  }

  template <class T>
  static void exchange(ChunkedTensor<T>& tensor) {
    for (const std::size_t chunk : tensor.held()) {
      const std::span<T> values = tensor.chunk(chunk);
      std::swap_ranges(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                       values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    }
  }

  Parameters parameters_;
  Trace trace_;
  ParameterTensors tensors_;
  std::vector<std::int16_t> inputs_;
  std::unique_ptr<Witness> witness_;
  std::unique_ptr<LookupValues> lookup_;
};

const Digest seed = blake2s(std::vector<std::uint8_t>{9});
const Statement statement{};

struct Proven {
  std::vector<std::uint8_t> payload;
  ClaimLedger ledger;
  std::vector<WeightedClaim> handed;
};

/// `qkv`: what the prover believes.
Proven prove(const GroupedCase& data, const GroupedQkvPlan& qkv) {
  Proven proven{{}, ClaimLedger(data.plan.pass), {}};
  ProverTranscript transcript(seed);
  ProverContext context{data.plan, statement, transcript, data.lookup(), proven.ledger, data.witness(), data.comm};
  proven.handed = run(context, qkv, data.consumers());
  proven.payload = transcript.payload();
  return proven;
}

struct Verdict {
  bool accepted = false;     // nothing was rejected
  bool true_claims = false;  // and all claims left hold
  std::string why;
};

Verdict verify(const GroupedCase& data, std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(seed, payload);
  ClaimLedger ledger(data.plan.pass);
  VerifierContext context{data.plan, statement, transcript, data.lookup(), ledger};
  try {
    const std::vector<WeightedClaim> handed = run(context, data.plan.qkv, data.consumers());
    transcript.finish();
    return {true, data.holds(ledger, handed), {}};
  } catch (const Rejected& rejected) {
    return {false, false, rejected.scope() + ": " + rejected.what()};
  }
}

// halves of 4; of 3 (padded) with heads that share keys, 3 heads in 4 places; one query head a key, one place a half;
// a continuation whose filler lies behind the last position
const std::vector<Size> sizes{{2, 24, 2, 1, 4, 16, 0, 8},
                              {3, 40, 3, 2, 3, 20, 0, 5},
                              {1, 12, 1, 5, 1, 8, 0, 3, false},
                              {2, 80, 2, 3, 6, 13, 7, 5}};

TEST(GroupedQkv, inference_follows_the_formulas) {
  SelfCommunicator self;
  for (const Size& size : sizes) {
    const GroupedCase data(size, self);
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
    EXPECT_EQ(checked, size.blocks * size.heads * (size.group + 2) * size.head_size() * data.plan.padded_tokens);
  }
}

TEST(GroupedQkv, is_accepted_and_leaves_true_claims) {
  SelfCommunicator self;
  for (const Size& size : sizes) {
    const GroupedCase data(size, self);
    const Proven proven = prove(data, data.plan.qkv);
    EXPECT_TRUE(data.holds(proven.ledger, proven.handed));
    const Verdict verdict = verify(data, proven.payload);
    EXPECT_TRUE(verdict.accepted) << verdict.why;
    EXPECT_TRUE(verdict.true_claims);
    EXPECT_EQ(proven.handed.size(), 3U);
  }
}

TEST(GroupedQkv, bytes_do_not_depend_on_ranks) {
  SelfCommunicator self;
  const Size& size = sizes[1];
  const GroupedCase alone(size, self);
  const std::vector<std::uint8_t> expected = prove(alone, alone.plan.qkv).payload;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Communicator& comm) {
      const GroupedCase data(size, comm);
      EXPECT_TRUE(prove(data, data.plan.qkv).payload == expected) << ranks;
    });
  }
}

TEST(GroupedQkv, every_altered_message_is_rejected_or_leaves_a_false_claim) {
  SelfCommunicator self;
  const GroupedCase data({2, 6, 2, 2, 2, 8, 0, 2}, self);
  const Proven proven = prove(data, data.plan.qkv);
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
    auto table = std::make_shared<std::vector<std::int16_t>>(*rotary.table);
    change(*table);
    rotary.table = table;
  };
  const std::vector<Lie> lies{
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
           std::fill_n(table.begin(), table.size() / 2, std::int16_t{1 << Exponents::rotary});
           std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(table.size() / 2), table.size() / 2,
                       std::int16_t{0});
         });
       }},
      {"one entry off by one in a row",
       [&](Rotary& rotary) { with_table(rotary, [&](auto& table) { ++table[(rotary.past + 1) * rotary.half + 1]; }); }},
      {"halves exchanged", [](Rotary&) {}, true},
  };
  for (const Size& size : {sizes[1], sizes[3]}) {
    for (const Lie& lie : lies) {
      SCOPED_TRACE(lie.name);
      const GroupedCase data(size, self, lie);
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
}  // namespace tessera
