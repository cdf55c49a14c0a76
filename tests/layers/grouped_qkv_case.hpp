#pragma once

#include "arithmetic/rotary_table.hpp"
#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"
#include "plan/prover_context.hpp"
#include "subprotocols/inference.hpp"
#include "tensor/contract.hpp"

#include "layer_case.hpp"

namespace tessera::test {

/// Sizes of the layer.
struct GroupedQkvSize {
  std::size_t blocks, features, heads, group, half, positions, past, rows;
  bool biases = true;
  [[nodiscard]] std::size_t head_size() const { return 2 * half; }
};

inline ModelShape model_of(const GroupedQkvSize& size) {
  ModelShape shape{size.blocks, size.features, size.heads * size.group, 4, 10, size.positions, rotary_layers};
  shape.n_kv_head = size.heads;
  shape.head_dim = size.head_size();
  shape.qkv_bias = size.biases;
  return shape;
}

inline VerifyingKey key_of(const GroupedQkvSize& size) {
  VerifyingKey key;
  key.shape = model_of(size);
  key.filler = 9;
  return key;
}

/// The layer alone, on recorded inputs.
struct GroupedQkvAlone : Plan {
  Recorded<std::int16_t> u;
  GroupedQkvPlan qkv;

  explicit GroupedQkvAlone(const GroupedQkvSize& size)
      : Plan(key_of(size), {.prompt = size.rows - 1, .generated = 1, .past = size.past}) {
    Builder builder(*this);
    const Dimension block = Dimension::outer(size.blocks);
    const Dimension feature = Dimension::tiled(size.features);
    const Dimension head = Dimension::outer(size.heads);
    const Dimension group = Dimension::outer(size.group);
    const Dimension half{2, 1};
    const Dimension place = Dimension::whole(size.half);
    const Dimension whole = Dimension::whole(size.head_size());
    const Dimension token = passes.rows;
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

/// What a false inference does.
struct RotationLie {
  const char* name;
  std::function<void(Rotary&)> rotary = [](Rotary&) {};
  bool halves_exchanged = false;
};

class GroupedQkvCase {
 public:
  GroupedQkvCase(const GroupedQkvSize& dimensions, Communicator& communicator, const RotationLie& lie = {"none"})
      : size(dimensions),
        comm(communicator),
        plan(dimensions),
        parameters_(model_of(size)),
        trace_(plan, comm.rank(), comm.size(), true) {
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
    tensors_ = ParameterTensors::of(model_of(size), parameters_, comm.rank(), {comm.size(), 0});
    inputs_.resize(size.blocks * size.features * plan.rows);
    fill(inputs_, 12);
    infer_all(lie);
    trace_.deal_chunks(plan, comm);
    witness_ = std::make_unique<Witness>(plan, trace_, tensors_, comm);
    witness_->finish(comm);
    lookup_ = std::make_unique<LookupValues>(plan, true_lookup(plan, *witness_, comm));
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
    return claims_hold(plan, *witness_, ledger, comm) && std::ranges::all_of(handed, [&](const WeightedClaim& claim) {
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
                 inputs_[(block * size.features + f) * plan.rows + t];
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
      const auto& table = *plan.qkv.rotary.tables;
      const std::int64_t cos = table[position * size.half + i];
      const std::int64_t sin = table[(size.positions + position) * size.half + i];
      value = row % m < size.half ? value * cos - sum(row + size.half) * sin : value * cos + sum(row - size.half) * sin;
    }
    return (value + (std::int64_t{1} << (plan.qkv.shift[part] - 1))) >> plan.qkv.shift[part];
  }

  GroupedQkvSize size;
  Communicator& comm;
  GroupedQkvAlone plan;
  QkvCache cache;

 private:
  void infer_all(const RotationLie& lie) {
    RangeGuard guard;
    const InferenceContext context{parameters_, comm, guard, &trace_, plan.rows, plan.past};
    cache = QkvCache(context.owned(plan.qkv.shape[0]), context.owned(plan.qkv.shape[1]), size.blocks, plan.past,
                     plan.past + plan.rows);
    GroupedQkvPlan qkv = plan.qkv;
    lie.rotary(qkv.rotary);
    const std::size_t n = plan.rows;
    for (std::size_t block = 0; block < size.blocks; ++block) {
      for (std::size_t f = 0; f < size.features; ++f) {
        if (context.owned(plan.qkv.feature.dimensions()[1]).contains(f)) {
          block_row(trace_[plan.u], block, f).write(0, std::span(inputs_).subspan((block * size.features + f) * n, n));
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

}  // namespace tessera::test
