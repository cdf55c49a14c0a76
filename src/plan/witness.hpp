#pragma once

#include <array>
#include <deque>

#include "plan/prover_context.hpp"
#include "plan/parameters.hpp"

namespace tessera {

/// The int16 parameters as tensors of the parameter oracle: every rank holds its part (output features, heads or
/// vocabulary rows by contiguous ranges; vectors are replicated).
struct ParameterTensors {
  std::vector<ChunkedTensor<std::int16_t>> tensors;  // by ParameterId
  static ParameterTensors of(const ModelShape& shape, const Parameters& parameters, int rank, int ranks);
  /// Frees each parameter when it is copied.
  static ParameterTensors of(const ModelShape& shape, Parameters&& parameters, int rank, int ranks);
  [[nodiscard]] std::vector<IntegerTensor> views() const;
};

/// Everything that the prover commits to or looks up, computed from a trace. Holds views into the trace and the
/// parameters, which must outlive it. Built collectively.
struct Witness {
  std::vector<IntegerTensor> parameters;  // by ParameterId
  std::vector<IntegerTensor> tensors;     // by TensorId of the witness oracle
  std::vector<LookupColumnData> columns;  // by look-up column
  std::vector<std::vector<std::int64_t>> multiplicities;
  IntegerTensor u1, u2, uf, q, k, v, y, value_sum, row_sum;  // virtual tensors
  std::array<std::vector<std::int64_t>, 3> square_sums;  // sum_f x^2 per (block, token), by layer norm; virtual as well
  Ownership by_head;

  /// Sum over (block, token) of weight * sum_f x^2 for a layer norm of the plan.
  [[nodiscard]] E square_sum_at(const LayerNormPlan& norm, std::span<const E> weights) const;
  /// A = q*k^T of a present tile, above the diagonal too.
  void fill_score_product(std::size_t chunk, std::span<E> values) const;
  /// A of all tiles (absent ones too) at an inner point, on the outer cube (B, H, Q, K). Collective.
  [[nodiscard]] std::vector<E> score_products_at(const Plan& plan, std::span<const E> inner_point,
                                                 Communicator& comm) const;
  /// Rows of E for these tokens: (token, feature), features padded. Collective.
  [[nodiscard]] std::vector<E> embedding_rows(const Plan& plan, std::span<const std::uint32_t> tokens,
                                              Communicator& comm) const;

  Witness(const Plan& plan, const Statement& statement, const Trace& trace, const ParameterTensors& parameter_tensors,
          Communicator& comm, Strangers strangers = Strangers::refuse);
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

 private:
  using Filler = std::function<void(std::size_t chunk, std::span<std::int64_t> values)>;
  friend class WitnessBuilder;
  void set_heads(const Plan& plan, const Trace& trace, Communicator& comm);
  std::deque<ChunkedTensor<std::uint16_t>> pieces_;
  std::deque<ChunkedTensor<std::int64_t>> wide_;     // computed here: quotients, logits, multiplicities
  ChunkedTensor<std::int16_t> padded_q_, padded_k_;  // (B, H*m_hat, T) where heads are padded
  const ChunkedTensor<std::int16_t>* head_q_ = nullptr;
  const ChunkedTensor<std::int16_t>* head_k_ = nullptr;
  std::vector<std::size_t> tile_head_chunk_;  // score chunk -> q, k chunk
  Shape scores_;
};

}  // namespace tessera
