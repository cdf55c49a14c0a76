#include <algorithm>
#include <array>
#include "commitment/product_sumcheck.hpp"
#include "sumcheck/product_relations.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {
namespace {

/// Pairs per unit of parallel work.
constexpr std::size_t block_pairs = 4096;

/// body(first, count, sums) on blocks of `pairs` pairs; the sum of its sums.
template <class Body>
RoundSums sum_blocks(std::size_t pairs, const Body& body) {
  RoundSums total{};
#pragma omp parallel for schedule(static) if (pairs > block_pairs)
  for (std::size_t first = 0; first < pairs; first += block_pairs) {
    const RoundSums sums = body(first, std::min(block_pairs, pairs - first));
#pragma omp critical
    for (std::size_t x = 0; x < sums.size(); ++x) {
      total[x] += sums[x];
    }
  }
  return total;
}

}  // namespace

RoundSums ProductTables::round_sums() {
  const ProductRelation product;
  if (!challenge_) {
    return sum_blocks(size() / 2, [&](std::size_t first, std::size_t count) {
      const std::array<E*, 2> tables{a_.values + 2 * first, b_.values + 2 * first};
      return tessera::round_sums(product, std::span<E* const>(tables), count, {}, false);
    });
  }
  const Table a = Table::uninitialised(size() / 2);
  const Table b = Table::uninitialised(size() / 2);
  const RoundSums sums = sum_blocks(size() / 4, [&](std::size_t first, std::size_t count) {
    RoundSums block{};
    const E* const a_from = a_.values + 4 * first;
    const E* const b_from = b_.values + 4 * first;
    const std::array<E*, 2> to{a.values + 2 * first, b.values + 2 * first};
    if (!vector_bind_products(a_from, b_from, to[0], to[1], count, *challenge_, {}, block)) {
      bind_lowest(a_from, to[0], 2 * count, *challenge_);
      bind_lowest(b_from, to[1], 2 * count, *challenge_);
      block = tessera::round_sums(product, std::span<E* const>(to), count, {}, false);
    }
    return block;
  });
  a_ = a;
  b_ = b;
  challenge_.reset();
  return sums;
}

void ProductTables::settle() {
  if (!challenge_) {
    return;
  }
  const std::size_t pairs = size() / 2;
  const Table a = Table::uninitialised(pairs);
  const Table b = Table::uninitialised(pairs);
#pragma omp parallel for schedule(static) if (pairs > block_pairs)
  for (std::size_t first = 0; first < pairs; first += block_pairs) {
    const std::size_t count = std::min(block_pairs, pairs - first);
    bind_lowest(a_.values + 2 * first, a.values + first, count, *challenge_);
    bind_lowest(b_.values + 2 * first, b.values + first, count, *challenge_);
  }
  a_ = a;
  b_ = b;
  challenge_.reset();
}

E prove_product_round(ProverTranscript& transcript, std::span<ProductTables> pairs, E& claim) {
  E at_zero;
  E square;
  for (ProductTables& tables : pairs) {
    const RoundSums sums = tables.round_sums();
    at_zero += sums[0];
    square += sums[2];
  }
  const std::array<E, 2> message{claim - at_zero - at_zero - square, square};  // claim = 2*h(0) + h_1 + h_2
  transcript.send("round", message);
  const E challenge = transcript.challenge("bind");
  claim = at_zero + challenge * (message[0] + challenge * message[1]);
  for (ProductTables& tables : pairs) {
    tables.bind_later(challenge);
  }
  return challenge;
}

}  // namespace tessera
