#include <algorithm>
#include "commitment/row_claims.hpp"
#include "commitment/vector_weights.hpp"
#include "commitment/weights.hpp"
#include "field/ntt.hpp"

namespace tessera {

ZeroedVector<E> claim_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::span<const std::vector<Claim>> claims, E gamma, const BoundVariables& bound) {
  ZeroedVector<E> weights(std::size_t{1} << schedule.log_vector);
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    const CommittedWord& word = schedule.oracles[j];
    const Point row = bound.row_point(word.log_rows);
    for (const Claim& claim : claims[j]) {
      const Shape& shape = oracles[j].layout.tensors()[claim.tensor];
      const ChunkPoint chunk_point = split_chunk_point(shape, row);
      std::vector<std::vector<E>> high;
      for (std::size_t d = 0; d < claim.weight.size(); ++d) {
        high.push_back(bind_low(claim.weight[d], chunk_point.low[d]));
      }
      const E coefficient = power * chunk_point.padding;
      for (E& entry : high[0]) {
        entry *= coefficient;
      }
#pragma omp parallel for schedule(static) if (shape.chunk_count() > 1)
      for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
        const std::size_t column = oracles[j].layout.offset(claim.tensor, chunk) >> word.log_rows;
        const ColumnWeights columns = column_weights(shape, high, chunk);
        for (std::size_t i = 0; i < columns.weights.size(); ++i) {
          weights[word.offset + column + i] += columns.scale * columns.weights[i];
        }
      }
      power *= gamma;
    }
  }
  return weights;
}

void add_power_weights(const PowerClaims& claims, std::span<const std::size_t> positions, unsigned log_domain,
                       std::span<E> weights) {
  // hi = (hi1, hi0): x^hi = x^hi0 * omega_P^(position*hi1), P = 2^(log_domain - b): for each hi0, side by side as
  // lanes, one transform over the position mod P
  const unsigned lane_bits = std::min(5U, claims.log_length);
  const std::size_t lanes = std::size_t{1} << lane_bits;
  const unsigned log_length = log_domain - lane_bits;
  ZeroedVector<F> data((2 * lanes) << log_length);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t residue = positions[i] & ((std::size_t{1} << log_length) - 1);
    F* row = data.data() + bit_reverse(residue, log_length) * 2 * lanes;
    E power = claims.coefficients[i];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      row[2 * lane] += power.c0;
      row[2 * lane + 1] += power.c1;
      power *= claims.points[i];
    }
  }
  ntt(data, log_length, 2 * lanes);
  const std::size_t length = std::size_t{1} << claims.log_length;
#pragma omp parallel for schedule(static)
  for (std::size_t hi = 0; hi < length; ++hi) {
    weights[claims.offset + hi] += E{data[2 * hi], data[2 * hi + 1]};
  }
}

}  // namespace tessera
