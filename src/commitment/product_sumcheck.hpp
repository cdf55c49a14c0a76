#pragma once

#include <memory>
#include <optional>
#include "memory/storage.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {

/// Two multilinear polynomials over the same variables, in the sum-check of sum_x a(x)*b(x). A challenge is bound when
/// the next round's sums are taken, in the same pass.
class ProductTables {
 public:
  /// Values in memory that may be shared: binding never changes them, it makes new ones.
  struct Table {
    std::shared_ptr<void> owner;
    E* values = nullptr;
    std::size_t size = 0;
    template <class Vector>
    static Table of(Vector vector) {
      auto shared = std::make_shared<Vector>(std::move(vector));
      return {shared, shared->data(), shared->size()};
    }
    static Table uninitialised(std::size_t size) { return of(RawVector<E>(size)); }
    [[nodiscard]] std::span<E> span() const { return {values, size}; }
  };

  ProductTables(Table a, Table b) : a_(std::move(a)), b_(std::move(b)) {}
  /// The tables with all challenges bound.
  [[nodiscard]] const Table& a() {
    settle();
    return a_;
  }
  [[nodiscard]] const Table& b() {
    settle();
    return b_;
  }
  /// h(0) and h_2 (entries 0 and 2) of the next round's polynomial h.
  RoundSums round_sums();
  void bind_later(E challenge) {
    settle();
    challenge_ = challenge;
  }

 private:
  [[nodiscard]] std::size_t size() const { return a_.size; }  ///< before binding
  void settle();

  Table a_;
  Table b_;
  std::optional<E> challenge_;
};

/// One round of sum over all `pairs` of sum_x a(x)*b(x) = claim over the lowest variable: sends h_1, h_2 (see
/// verify_sumcheck), binds the variable in all tables, sets claim to h(challenge) and returns the challenge.
E prove_product_round(ProverTranscript& transcript, std::span<ProductTables> pairs, E& claim);

}  // namespace tessera
