#include <gtest/gtest.h>

#include "arithmetic/tables.hpp"
#include "cluster/thread_communicator.hpp"
#include "layers/projection/projection.hpp"

#include "layer_case.hpp"

namespace tessera::test {
namespace {

constexpr ParameterId output_weight{0}, output_bias{1};

/// Attention whose query heads share keys and values, alone: heads, group and places are dimensions of their own.
struct Sizes {
  std::size_t blocks, heads, group, size;
  std::size_t past = 0;
  bool keeps = false;
};

/// For googletest.
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.blocks << " blocks, " << s.heads << " heads of " << s.size << ", groups of " << s.group << ", past "
             << s.past << (s.keeps ? ", keeps" : "");
}

struct GroupedPlan : Plan {
  static constexpr std::size_t features = 10, rows = 12, positions = 32;
  static constexpr unsigned log_chunk = 2, log_queries = 1;  // of rows, and of keys; of a tile's queries
  static VerifyingKey key() {
    VerifyingKey key;
    key.shape.n_positions = positions;
    key.shape.n_vocab = 10;
    return key;
  }
  explicit GroupedPlan(const Sizes& sizes)
      : Plan(key(), {.prompt = sizes.past > 0 ? 10U : 11U,
                     .generated = sizes.past > 0 ? 2U : 1U,
                     .past = sizes.past,
                     .keeps = sizes.keeps}) {
    const Dimension block = Dimension::outer(sizes.blocks);
    const Dimension head = Dimension::outer(sizes.heads);
    const Dimension group = Dimension::outer(sizes.group);
    const Dimension half{2, 1};
    const Dimension in_half = Dimension::whole(sizes.size / 2);
    const Dimension place = Dimension::whole(sizes.size);
    const Dimension token{rows, log_chunk};
    const Dimension sequence{past + rows, log_chunk};
    const Dimension state = Dimension::whole(positions);
    const Dimension query{rows, log_queries};
    const HeadLayout heads{sizes.heads, sizes.size, sizes.group, true};
    Builder builder(*this);
    std::vector<std::int64_t> exponentials(std::size_t{1} << exp_table_log_size);
    std::ranges::copy(exp_table(10, 6), exponentials.begin());
    const std::size_t table = builder.table("exp", exp_table_log_size, std::move(exponentials));
    const Shape queries({block, head, group, half, in_half, token});
    const auto of_keys = [&](const Dimension& along) { return Shape({block, head, half, in_half, along}); };
    const auto of_values = [&](const Dimension& along) { return Shape({block, head, place, along}); };
    feature = Shape({block, Dimension::tiled(features), token});
    x_in = builder.committed_value<std::int32_t>("x_in", feature, {1}, 24, true);
    x_mid = builder.committed_value<std::int32_t>("x_mid", feature, {1}, 24, true);
    q = builder.value<std::int16_t>("q", queries, {1}, 16, true);
    k = builder.value<std::int16_t>("k", of_keys(token), {1}, 16, true);
    v = builder.value<std::int16_t>("v", of_values(token), {1}, 16, true);
    CacheSpec kept;
    kept.heads = heads;
    kept.q = queries;
    kept.added_rows = {of_keys(token), of_values(token)};
    kept.sequence = {of_keys(sequence), of_values(sequence)};
    kept.state = {of_keys(state), of_values(state)};
    kept.past = past;
    kept.added = kept_rows;
    kept.k = k;
    kept.v = v;
    cache = CachePlan::declare(builder, std::move(kept));
    AttentionSpec spec;
    spec.heads = heads;
    spec.past = past;
    spec.scores = Shape({block, head, group, query, sequence}, Presence::causal);
    spec.rows = Shape({block, head, group, token});
    spec.head_feature = Shape({block, head, group, place, token});
    spec.table = table;
    spec.kappa = 6;
    spec.score_shift = 12;
    spec.key_bits = sequence.bits();
    spec.q = q;
    spec.k = cache.keys;
    spec.v = cache.values;
    attention = AttentionPlan::declare(builder, std::move(spec));
    ProjectionSpec out;
    out.feature = feature;
    out.head_feature = attention.head_feature;
    out.heads = heads;
    out.weight = output_weight;
    out.bias = output_bias;
    out.shift = 14;
    out.bias_shift = 3;
    out.residual_bits = 24;
    out.x_in = x_in;
    out.x_mid = x_mid;
    out.y = attention.y;
    projection = ProjectionPlan::declare(builder, std::move(out));
    builder.finish_tables();
    pack({Shape({block, Dimension::tiled(features), head, group, place}), Shape({block, Dimension::tiled(features)})},
         {of_keys(state), of_values(state)});
  }

  Shape feature;
  CommittedValue<std::int32_t> x_in, x_mid;
  RecordedRange<std::int16_t> q, k, v;
  CachePlan cache;
  AttentionPlan attention;
  ProjectionPlan projection;
};

/// A value for each place, whatever the ranks.
std::int16_t value_at(std::uint64_t kind, std::size_t block, std::size_t row, std::size_t position) {
  std::mt19937_64 random(((kind * 16 + block) * 1024 + row) * 1024 + position);
  return static_cast<std::int16_t>(static_cast<std::int64_t>(random() % 8001) - 4000);
}

class GroupedCase {
 public:
  GroupedCase(const Sizes& sizes, Communicator& communicator)
      : comm(communicator),
        plan(sizes),
        trace_(plan, comm.rank(), comm.size(), true),
        parameters_(make_parameters(sizes)),
        witness_(make_witness(sizes)),
        witness(*witness_),
        lookup(plan, true_lookup(plan, witness, comm)) {}

  Communicator& comm;
  GroupedPlan plan;

  [[nodiscard]] WeightedClaim y_claim() const {
    const Shape& shape = plan.attention.head_feature;
    std::vector<Factor> weight = weight_at(RandomElements(3).point(shape));
    const E value = weighted_sum(witness.view(plan.attention.y), shape, weight, comm);
    return {std::move(weight), value};
  }

 private:
  static void fill(ChunkedTensor<std::int16_t>& tensor, std::uint64_t kind, std::size_t blocks, Communicator& comm,
                   Range positions, std::size_t offset) {
    const Range rows = owned_rows(tensor.shape(), comm.rank(), comm.size());
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t row = rows.first; row < rows.last; ++row) {
        for (std::size_t t = positions.first; t < positions.last; ++t) {
          block_row(tensor, block, row)[t] = value_at(kind, block, row, offset + t);
        }
      }
    }
  }

  ParameterTensors make_parameters(const Sizes& sizes) {
    ParameterTensors parameters;
    for (const Shape& shape : plan.parameter_layout.tensors()) {
      auto& tensor = parameters.tensors.emplace_back(shape, Ownership{}, comm.rank(), comm.size());
      const std::size_t columns = parameters.tensors.size() == 1 ? sizes.heads * sizes.group : 1;
      for (std::size_t b = 0; b < sizes.blocks; ++b) {
        for (std::size_t head = 0; head < columns; ++head) {
          const auto chunk = tensor.chunk(b * columns + head);
          const std::size_t stride = chunk.size() / plan.feature.dimensions()[1].chunk();
          for (std::size_t f = 0; f < GroupedPlan::features; ++f) {
            for (std::size_t p = 0; p < (columns == 1 && stride == 1 ? 1 : sizes.size); ++p) {
              chunk[f * stride + p] = value_at(5, b, f, head * sizes.size + p);
            }
          }
        }
      }
    }
    return parameters;
  }

  std::unique_ptr<Witness> make_witness(const Sizes& sizes) {
    const Range all{0, GroupedPlan::rows};
    fill(trace_[plan.q], 1, sizes.blocks, comm, all, plan.past);
    fill(trace_[plan.k], 2, sizes.blocks, comm, all, plan.past);
    fill(trace_[plan.v], 3, sizes.blocks, comm, all, plan.past);
    // inference, in batches
    const HeadLayout& heads = plan.attention.heads;
    const Range owned = contiguous_range(heads.heads, comm.rank(), comm.size());
    const Range rows{owned.first * heads.size, owned.last * heads.size};
    const Range queries{rows.first * heads.group, rows.last * heads.group};
    QkvCache cache(queries, rows, sizes.blocks, plan.past, plan.past + GroupedPlan::rows);
    if (plan.past > 0) {
      std::vector<ChunkedTensor<std::int16_t>> past;
      for (const StateTensor tensor : {state_keys, state_values}) {
        past.emplace_back(plan.cache.state[tensor], Ownership{1}, comm.rank(), comm.size());
        fill(past.back(), 2 + tensor, sizes.blocks, comm, {0, plan.past}, 0);
      }
      load(plan.cache, past, cache, comm);
    }
    RangeGuard guard;
    const Parameters none{};
    const InferenceContext context{none, comm, guard, &trace_, GroupedPlan::rows, plan.past};
    const std::vector<std::int32_t> exponentials = exp_table(10, 6);
    std::vector<std::vector<std::int16_t>> y(sizes.blocks);
    for (const Range part : {Range{0, 3}, Range{3, 10}, Range{10, GroupedPlan::rows}}) {
      const Batch batch{part.first, part.size(), {}, {}};
      for (std::size_t block = 0; block < sizes.blocks; ++block) {
        cache.q.assign(queries.size() * batch.size, 0);
        for (std::size_t t = 0; t < batch.size; ++t) {
          const std::size_t position = plan.past + part.first + t;
          for (std::size_t row = queries.first; row < queries.last; ++row) {
            cache.q[(row - queries.first) * batch.size + t] = value_at(1, block, row, position);
          }
          for (std::size_t row = rows.first; row < rows.last; ++row) {
            const std::size_t at = cache.block_offset(block) + (row - rows.first) * cache.capacity + position;
            cache.k[at] = value_at(2, block, row, position);
            cache.v[at] = value_at(3, block, row, position);
          }
        }
        infer(context, plan.cache, cache, block, batch);
        const std::vector<std::int16_t> part_y = infer(context, plan.attention, {exponentials}, cache, block, batch);
        y[block].resize(heads.features() * GroupedPlan::rows);
        for (std::size_t row = 0; row < heads.features(); ++row) {
          std::copy_n(part_y.begin() + static_cast<std::ptrdiff_t>(row * batch.size), batch.size,
                      y[block].begin() + static_cast<std::ptrdiff_t>(row * GroupedPlan::rows + part.first));
        }
      }
    }
    project(sizes, y);
    trace_.deal_chunks(plan, comm);
    record_tiles(plan.attention, {exponentials}, trace_, comm);
    auto made = std::make_unique<Witness>(plan, trace_, parameters_, comm);
    derive(*made, plan.cache, comm);
    derive(*made, plan.attention, comm);
    made->finish(comm);
    return made;
  }

  /// x_mid = x_in + rshift(W_O*y + b_O*2^b, S) by definition.
  void project(const Sizes& sizes, const std::vector<std::vector<std::int16_t>>& y) {
    const Range own = owned_rows(plan.feature, comm.rank(), comm.size());
    for (std::size_t b = 0; b < sizes.blocks; ++b) {
      for (std::size_t f = own.first; f < own.last; ++f) {
        for (std::size_t t = 0; t < GroupedPlan::rows; ++t) {
          std::int64_t sum = std::int64_t{value_at(5, b, f, 0)} << plan.projection.bias_shift;
          for (std::size_t row = 0; row < plan.attention.heads.features(); ++row) {
            sum += std::int64_t{value_at(5, b, f, row)} * y[b][row * GroupedPlan::rows + t];
          }
          const Rounded update = rshift(sum, plan.projection.shift);
          const std::int32_t x = value_at(6, b, f, t);
          block_row(trace_[plan.x_in], b, f)[t] = x;
          block_row(trace_[plan.x_mid], b, f)[t] = x + static_cast<std::int32_t>(update.quotient);
          block_row(trace_[plan.projection.remainder], b, f)[t] = static_cast<std::uint16_t>(update.remainder);
        }
      }
    }
  }

  Trace trace_;
  ParameterTensors parameters_;
  std::unique_ptr<Witness> witness_;

 public:
  const Witness& witness;
  LookupValues lookup;
};

struct ProvenGroup {
  std::vector<std::uint8_t> payload;
  ClaimLedger ledger;
};

ProvenGroup prove(const GroupedCase& data) {
  const Statement statement{};
  ProvenGroup proven{{}, ClaimLedger(data.plan.pass)};
  ProverTranscript transcript(layer_seed);
  ProverContext context{data.plan, statement, transcript, data.lookup, proven.ledger, data.witness, data.comm};
  std::vector<WeightedClaim> y{run(context, data.plan.projection), data.y_claim()};
  run(context, data.plan.cache, run(context, data.plan.attention, std::move(y)));
  proven.payload = transcript.payload();
  return proven;
}

/// Whether the three layers accept the payload and all claims that they leave are true.
bool accepted_with_true_claims(const GroupedCase& data, std::span<const std::uint8_t> payload) {
  const Statement statement{};
  VerifierTranscript transcript(layer_seed, payload);
  ClaimLedger ledger(data.plan.pass);
  VerifierContext context{data.plan, statement, transcript, data.lookup, ledger};
  try {
    std::vector<WeightedClaim> y{run(context, data.plan.projection), data.y_claim()};
    const QkvClaims claims = run(context, data.plan.cache, run(context, data.plan.attention, std::move(y)));
    transcript.finish();
    const std::array recorded{data.plan.q, data.plan.k, data.plan.v};
    const std::array shapes{data.plan.cache.q, data.plan.cache.added_rows[0], data.plan.cache.added_rows[1]};
    bool holds = claims_hold(data.plan, data.witness, ledger, data.comm);
    for (std::size_t i = 0; i < 3; ++i) {
      for (const WeightedClaim& claim : claims[i]) {
        const IntegerTensor tensor = data.witness.view(recorded[i]);
        holds = holds && weighted_sum(tensor, shapes[i], claim.weight, data.comm) == claim.value;
      }
    }
    return holds;
  } catch (const Rejected&) {
    return false;
  }
}

class Grouped : public ::testing::TestWithParam<Sizes> {};

TEST_P(Grouped, attention_is_accepted_and_leaves_true_claims) {
  SelfCommunicator self;
  const GroupedCase data(GetParam(), self);
  EXPECT_TRUE(accepted_with_true_claims(data, prove(data).payload));
}

TEST_P(Grouped, bytes_do_not_depend_on_ranks) {
  SelfCommunicator self;
  const std::vector<std::uint8_t> expected = prove(GroupedCase(GetParam(), self)).payload;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Communicator& comm) {
      EXPECT_TRUE(prove(GroupedCase(GetParam(), comm)).payload == expected) << ranks;
    });
  }
}

// neither number of heads nor places a power of two; whole numbers; multi-head attention in dimensions of its own
INSTANTIATE_TEST_SUITE_P(Shapes, Grouped,
                         ::testing::Values(Sizes{2, 3, 3, 12}, Sizes{1, 2, 7, 8}, Sizes{3, 4, 1, 6},
                                           Sizes{2, 1, 5, 10, 5, true}, Sizes{1, 3, 2, 16, 13, true},
                                           Sizes{1, 3, 3, 12, 0, true}));

TEST(GroupedLies, every_altered_message_is_rejected_or_leaves_a_false_claim) {
  SelfCommunicator self;
  const GroupedCase data({1, 2, 3, 6, 5, true}, self);
  const std::vector<std::uint8_t> payload = prove(data).payload;
  ASSERT_TRUE(accepted_with_true_claims(data, payload));
  for (std::size_t word = 0; word < payload.size() / 8; ++word) {
    std::vector<std::uint8_t> altered = payload;
    altered[8 * word] ^= 1;
    EXPECT_FALSE(accepted_with_true_claims(data, altered)) << word;
  }
}

}  // namespace
}  // namespace tessera::test
