#pragma once

#include "cluster/communicator.hpp"
#include "sumcheck/dense.hpp"
#include "sumcheck/short_chunks.hpp"
#include "tensor/chunked_factor.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// A relation over the present chunks of a shape, each chunk on the rank that owns it; absent ones contribute nothing.
/// Inner variables are bound on the owners, one all-reduce a round; then the chunks' values are gathered and the outer
/// variables are bound identically everywhere. All calls are collective.
class ChunkedSummand final : public Summand {
 public:
  /// `at`: the eq factor's coordinates in flat order, or none. `at` and `factors` must outlive the summand.
  ChunkedSummand(RoundKernel kernel, const Shape& shape, const Ownership& ownership,
                 std::span<const ChunkedFactor> factors, std::span<const E> at, Communicator& comm);
  [[nodiscard]] std::size_t degree() const override { return kernel_.degree; }
  [[nodiscard]] bool homogeneous() const override { return kernel_.homogeneous; }
  RoundSums first(bool with_one) override;
  RoundSums bind(E challenge, bool with_one) override;
  void end(E challenge) override;
  /// Every factor's value, all variables bound.
  [[nodiscard]] std::vector<E> values();

 private:
  /// The sum over owned chunks of chunk_sums(i) times the chunk's weight, over all ranks.
  template <class Body>
  RoundSums sum_chunks(std::size_t pairs, const Body& chunk_sums);
  [[nodiscard]] E* const* tables(std::size_t i) const { return tables_.data() + i * kernel_.factors; }
  [[nodiscard]] RoundWeights weights() const;
  void fill(std::size_t i);
  /// Once few variables are left of many chunks.
  void shorten();
  /// Factor k of an owned chunk, inner variables bound.
  [[nodiscard]] E value(std::size_t i, std::size_t k) const { return short_ ? short_->value(i, k) : *tables(i)[k]; }
  /// Every factor on the outer cube, inner variables bound.
  DenseSummand& outer();

  RoundKernel kernel_;
  const Shape& shape_;
  std::span<const ChunkedFactor> factors_;
  std::span<const E> at_;
  Communicator& comm_;
  std::vector<std::size_t> owned_;  // present chunks
  std::vector<E> chunk_weights_;    // beta of their outer indices
  RawVector<E> values_;             // owned chunk after chunk, factor after factor, 2^inner_bits values each
  std::vector<E*> tables_;          // owned chunk after chunk
  unsigned inner_;                  // inner variables that are left
  Point inner_point_;               // of those that are bound
  std::optional<ShortChunks> short_;
  std::optional<DenseSummand> outer_;
};

ProvenSumcheck prove_chunked_sumcheck(ProverTranscript& transcript, const RoundKernel& kernel, const Shape& shape,
                                      const Ownership& ownership, std::span<const ChunkedFactor> factors,
                                      std::span<const E> at, Communicator& comm);

}  // namespace tessera
