#include <algorithm>

#include "layers/attention/padded_heads.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// d = M - z, with a cap M - z', INF above the diagonal, of one tile. Where it is beyond the table's last row, that.
Witness::Filler distances(const Witness& witness, const AttentionPlan& plan, Communicator& comm) {
  const ChunkedTensor<std::int32_t>& z_of = witness[plan.taken()];
  const auto maxima_of =
      std::make_shared<const ChunkedTensor<std::int64_t>>(at_tiles(witness[plan.row_max], z_of, comm));
  const auto far = std::make_shared<const ExcessByChunk>(
      excess_by_chunk(plan.scores, witness.exceptions_of(plan.exponential.clamp)));
  return [maxima_of, far, &z_of, scores = plan.scores, rows = plan.rows,
          spec = static_cast<const AttentionSpec&>(plan)](std::size_t chunk, std::span<std::int64_t> values) {
    const std::size_t query_tile = scores.coordinate(chunk, 3);
    const std::size_t key_tile = scores.coordinate(chunk, 4);
    const std::size_t queries = scores.dimensions()[3].chunk();
    const std::size_t keys = scores.dimensions()[4].chunk();
    const Dimension& tokens = rows.dimensions().back();
    const std::size_t first = query_tile * queries;
    const std::array row{scores.coordinate(chunk, 0), scores.coordinate(chunk, 1), scores.coordinate(chunk, 2),
                         first >> tokens.log_chunk};
    const auto maxima = maxima_of->chunk(rows.chunk_at(row)).subspan(first & (tokens.chunk() - 1), queries);
    const auto z = z_of.chunk(chunk);
    for (std::size_t i = 0; i < queries; ++i) {
      const std::size_t begin = scores.first_key(scores.coordinate(chunk, 0), first + i);
      for (std::size_t j = 0; j < keys; ++j) {
        const std::size_t key = key_tile * keys + j;
        const bool masked = key > spec.past + first + i || key < begin;
        values[i * keys + j] = masked ? softmax_infinity - z[i * keys + j] : score_distance(maxima[i], z[i * keys + j]);
      }
    }
    if (const auto found = far->find(chunk); found != far->end()) {
      for (const PlacedExcess& place : found->second) {
        values[place.inner] = (std::int64_t{1} << exp_table_log_size) - 1;
      }
    }
  };
}

}  // namespace

void derive(Witness& witness, const AttentionPlan& plan, Communicator& comm) {
  witness.set_input(plan.exponential, distances(witness, plan, comm));
  if (plan.capped) {
    witness.set_input(*plan.capped, witness[plan.score], 1U << (cap_table_log_size - 1));
  }
  const auto& sums = witness[plan.row_sum].values();
  const auto& inverses = witness[plan.row_inverse].values();
  auto& quotient = witness[plan.row_sum_quotient].values();
  auto& count = witness[plan.maximum_count].values();
  auto& remainder = witness[plan.division_remainder].values();
  auto& complement = witness[plan.division_complement].values();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int64_t sum = sums[i];
    quotient[i] = sum >> plan.kappa;
    count[i] = (sum & ((std::int64_t{1} << plan.kappa) - 1)) - 1;
    remainder[i] = (std::int64_t{1} << softmax_shift) - inverses[i] * sum;
    complement[i] = sum - 1 - remainder[i];
  }
}

}  // namespace tessera
