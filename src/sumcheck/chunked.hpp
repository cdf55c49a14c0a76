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
  /// Owned chunks, 2^log_chunks of them, that are neighbours on the outer cube: as one chunk they have the lowest outer
  /// variables, too, and fill kernels that one of them would not.
  struct Run {
    std::size_t first = 0;  // of owned_
    unsigned log_chunks = 0;
    E weight;  // beta of the outer variables that they share
    [[nodiscard]] std::size_t chunks() const { return std::size_t{1} << log_chunks; }
  };

  /// The sum of body(run, pairs, their weights) times the run's weight, over all ranks.
  template <class Body>
  RoundSums sum_runs(const Body& body);
  [[nodiscard]] E* const* tables(std::size_t run) const { return tables_.data() + run * kernel_.factors; }
  void fill(std::size_t run);
  /// Once few variables are left of many chunks.
  void shorten();
  /// Every factor on the outer cube, inner variables bound.
  DenseSummand& outer();

  RoundKernel kernel_;
  const Shape& shape_;
  std::span<const ChunkedFactor> factors_;
  std::span<const E> at_;
  Communicator& comm_;
  std::vector<std::size_t> owned_;  // present chunks
  std::vector<Run> runs_;           // of these
  std::vector<E> chunk_weights_;    // of all of these: beta of their outer indices; once they are short
  RawVector<E> values_;             // run after run, factor after factor, a run's chunks one after the other
  std::vector<E*> tables_;          // run after run
  unsigned inner_;                  // inner variables that are left
  Point inner_point_;               // of those that are bound
  std::optional<ShortChunks> short_;
  std::optional<DenseSummand> outer_;
};

ProvenSumcheck prove_chunked_sumcheck(ProverTranscript& transcript, const RoundKernel& kernel, const Shape& shape,
                                      const Ownership& ownership, std::span<const ChunkedFactor> factors,
                                      std::span<const E> at, Communicator& comm);

}  // namespace tessera
