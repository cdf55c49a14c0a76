#pragma once

#include <memory>

#include "memory/storage.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {

/// Values of a multilinear polynomial. They may be shared: binding then makes new ones.
struct DenseTable {
  std::shared_ptr<void> owner;
  E* values = nullptr;
  std::size_t size = 0;

  template <class Vector>
  static DenseTable of(Vector vector) {
    auto shared = std::make_shared<Vector>(std::move(vector));
    return {shared, shared->data(), shared->size()};
  }
  [[nodiscard]] std::span<E> span() const { return {values, size}; }
};

/// A relation over tables of 2^n values, the same on every rank.
class DenseSummand final : public Summand {
 public:
  /// `at`: n coordinates of the eq factor, or none; must outlive the summand.
  DenseSummand(RoundKernel kernel, std::vector<DenseTable> tables, std::span<const E> at = {});
  [[nodiscard]] std::size_t degree() const override { return kernel_.degree; }
  [[nodiscard]] bool homogeneous() const override { return kernel_.homogeneous; }
  RoundSums first(bool with_one) override;
  RoundSums bind(E challenge, bool with_one) override;
  void end(E challenge) override;

  /// Table k, all that is bound so far bound.
  [[nodiscard]] const DenseTable& table(std::size_t k) const { return tables_[k]; }
  /// Every factor's value, all variables bound.
  [[nodiscard]] std::vector<E> values() const;

 private:
  [[nodiscard]] RoundWeights weights(std::size_t pairs) const;
  /// Half as long as the tables, for a pass over `pairs` pairs; their own places where that is possible.
  [[nodiscard]] std::vector<DenseTable> halves(std::size_t pairs) const;

  RoundKernel kernel_;
  std::vector<DenseTable> tables_;
  std::span<const E> at_;
};

/// Dense and replicated: claim = sum_x g(x), or sum_x beta(at, x)*g(x) if `at` is not empty, over tables of 2^n values.
/// Every rank computes the same.
ProvenSumcheck prove_dense_sumcheck(ProverTranscript& transcript, const RoundKernel& kernel,
                                    std::vector<std::vector<E>> tables, std::span<const E> at = {});

}  // namespace tessera
