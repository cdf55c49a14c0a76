#include <array>
#include <tessera/commitment/product_sumcheck.hpp>
#include <tessera/sumcheck/sumcheck.hpp>

namespace tessera {
namespace {

/// Pairs per unit of parallel work.
constexpr std::size_t block_pairs = 4096;

struct Round {
  E at_zero;
  E square;  ///< coefficient of X^2
};

Round round_sums(const ProductTables& tables, std::size_t first, std::size_t last) {
  Round sums;
  for (std::size_t x = first; x < last; ++x) {
    const E a = tables.a[2 * x];
    const E b = tables.b[2 * x];
    sums.at_zero += a * b;
    sums.square += (tables.a[2 * x + 1] - a) * (tables.b[2 * x + 1] - b);
  }
  return sums;
}

SparseVector<E> bind_lowest(const SparseVector<E>& values, E challenge) {
  SparseVector<E> bound(values.size() / 2);
#pragma omp parallel for schedule(static) if (bound.size() > block_pairs)
  for (std::size_t x = 0; x < bound.size(); ++x) {
    bound[x] = values[2 * x] + challenge * (values[2 * x + 1] - values[2 * x]);
  }
  return bound;
}

}  // namespace

E prove_product_round(ProverTranscript& transcript, std::span<ProductTables> pairs, E& claim) {
  Round total;
  for (const ProductTables& tables : pairs) {
    const std::size_t size = tables.a.size() / 2;
#pragma omp parallel for schedule(static) if (size > block_pairs)
    for (std::size_t first = 0; first < size; first += block_pairs) {
      const Round sums = round_sums(tables, first, std::min(size, first + block_pairs));
#pragma omp critical
      {
        total.at_zero += sums.at_zero;
        total.square += sums.square;
      }
    }
  }
  const std::array<E, 2> message{claim - total.at_zero - total.at_zero - total.square, total.square};
  transcript.send("round", message);
  const E challenge = transcript.challenge("bind");
  const E half(F::from_canonical(2).inverse());
  claim = round_value(claim * half, half, message, challenge);
  for (ProductTables& tables : pairs) {
    tables.a = bind_lowest(tables.a, challenge);
    tables.b = bind_lowest(tables.b, challenge);
  }
  return challenge;
}

}  // namespace tessera
