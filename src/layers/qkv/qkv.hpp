#pragma once

#include <array>
#include <string>

#include "layers/cache/cache.hpp"
#include "base/range.hpp"
#include "plan/builder.hpp"
#include "tensor/team.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;

/// Q, K, V projections: q = rshift(W_Q*u + b_Q*2^b, S) and so on. Source: seed qkv, equation (1); claims on the padded
/// heads (seed multi_head_attention, "Prove Proper Padding") join the reduction as weights.
///   | # | from | message                                                                              |
///   | 1 | P/V  | reduction of all claims on q, k, v (look-up, attention) to one point r                |
///   | 2 | P    | remainders of q, k, v at r, biases at (r_b, r_a): claims                               |
///   | 3 | P/V  | one batched matrix product with W_Q, W_K, W_V; its input is returned: a claim on u     |
///
/// What an architecture says of it; arrays are q, k, v.
struct QkvSpec {
  Shape feature, qkv;  // (B,F,T), (B,A,T)
  HeadLayout heads;
  std::array<ParameterId, 3> weight{}, bias{};
  std::array<int, 3> shift{}, bias_shift{};
  Integers u;  // what the branch reads
};

struct QkvPlan : QkvSpec {
  std::array<RecordedRange<std::int16_t>, 3> value;
  std::array<RecordedRange<std::uint16_t>, 3> remainder;
  static QkvPlan declare(Builder& builder, QkvSpec spec);
};

inline const std::array<std::string, 3> qkv_names{"q", "k", "v"};

/// q of a batch, k and v of the conversation so far: features `queries` and `rows` (heads one after the other, without
/// padding), which are those that this rank has weights for. Where heads straddle chunks these are more than it
/// records, so that nothing has to be exchanged.
struct QkvCache {
  Range queries;  // of q
  Range rows;     // of k and v
  std::size_t capacity = 0;
  std::size_t past = 0;            // positions before the first row
  std::vector<std::int16_t> q;     // (queries, batch)
  std::vector<std::int16_t> k, v;  // (block, rows, capacity)
  Team team;                       // that shares the rows
  std::size_t known = 0;           // rows of the sequence whose keys and values all of the team have
  QkvCache() = default;
  QkvCache(Range queries, Range rows, std::size_t blocks, std::size_t past, std::size_t capacity,
           const Team& team = {});
  /// Tokens of the batch that this rank infers, from its first one on.
  [[nodiscard]] Range tokens(const Batch& batch) const;
  /// k's or v's rows of one block.
  [[nodiscard]] std::size_t block_offset(std::size_t block) const { return block * rows.size() * capacity; }
};

/// q, k, v of this rank's tokens of a batch, from batch.input().
void infer(const InferenceContext& context, const QkvPlan& qkv, std::size_t block, const Batch& batch, QkvCache& cache);

/// Gives every rank of a team k and v of all tokens of a batch whose tokens the team shares. `heads`: how many heads
/// are shared. Collective.
void share_keys(const InferenceContext& context, std::size_t heads, std::size_t block, const Batch& batch,
                QkvCache& cache);

template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const QkvPlan& qkv,
                                        const QkvClaimsOf<ScalarFor<Side>>& consumers);

}  // namespace tessera
