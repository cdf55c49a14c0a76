#include <omp.h>

#include <algorithm>
#include "opening/first_vector.hpp"
#include "opening/row_claims.hpp"
#include "opening/vector_weights.hpp"
#include "opening/weights.hpp"
#include "field/ntt.hpp"
#include "field/scale_kernels.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

/// Weights of opened columns: a transform of more bytes takes so many of its lanes (a power of two, elements of E) at a
/// time.
constexpr std::size_t transform_bytes = std::size_t{4} << 20;
constexpr std::size_t transform_lanes = 8;
/// Columns of small chunks that a thread takes at a time.
constexpr std::size_t columns_of_run = std::size_t{1} << 10;

/// add(place, index, count) for runs of the indices [first, last) of v_0 that are in this rank's columns.
template <class Add>
void visit_share(const ResidueShares& columns, std::size_t first, std::size_t last, const Add& add) {
  if (columns.log_count() == 0) {
    add(first, first, last - first);
    return;
  }
  for (std::size_t column = first / folded_rows; column * folded_rows < last; ++column) {
    if (columns.mine().contains(columns.class_of(column))) {
      const std::size_t from = std::max(first, column * folded_rows), end = std::min(last, (column + 1) * folded_rows);
      add(columns.own_place(column) * folded_rows + from % folded_rows, from, end - from);
    }
  }
}

/// An oracle in v_0: where its segment begins, and the point at which its rows are bound.
struct Placed {
  const CommittedOracle& oracle;
  std::size_t segment;
  Point row_point;
};

/// A tensor's chunks in a band, as runs whose columns lie side by side: some work for a thread.
std::vector<Range> column_runs(const CommittedOracle& oracle, std::size_t tensor, std::size_t band) {
  std::vector<Range> runs;
  std::size_t next = 0;  // column behind the last chunk
  for (std::size_t chunk = 0; chunk < oracle.layout.tensors()[tensor].chunk_count(); ++chunk) {
    if (oracle.layout.band(tensor, chunk) != band) {
      continue;
    }
    const ChunkColumns columns = chunk_columns(oracle, tensor, chunk);
    if (runs.empty() || runs.back().last != chunk || columns.first != next ||
        (runs.back().size() + 1) * columns.count > columns_of_run) {
      runs.push_back({chunk, chunk});
    }
    runs.back().last = chunk + 1;
    next = columns.first + columns.count;
  }
  return runs;
}

/// Adds some of the weights, of columns whose first one has index `first` of v_0.
void add_columns(const ColumnWeights& weights, std::size_t first, Range columns, const WeightShare& share) {
  const std::size_t row = weights.trailing.size();
  visit_share(share.columns, first + columns.first, first + columns.last,
              [&](std::size_t place, std::size_t index, std::size_t count) {
                const std::size_t last = index - first + count;
                for (std::size_t i = index - first; i < last;) {
                  const std::size_t some = std::min(last - i, row - i % row);
                  add_scaled(weights.scale * weights.leading[i / row], weights.trailing.data() + i % row, some,
                             share.weights.data() + place);
                  i += some;
                  place += some;
                }
              });
}

/// Adds a claim's weights on the columns of a tensor's chunks in one band of rows.
void add_band_weights(const Placed& placed, const LinearForm& claim, std::size_t band, E coefficient,
                      const WeightShare& share) {
  const CommittedOracle& oracle = placed.oracle;
  const RowBand rows = oracle.parameters.band(band);
  const Shape& shape = oracle.layout.tensors()[claim.tensor];
  const BandPoint inside = band_point(rows, placed.row_point);
  const ChunkPoint chunk_point = split_chunk_point(shape, inside.rows);
  std::vector<std::vector<E>> high;
  for (std::size_t d = 0; d < claim.weight.size(); ++d) {
    high.push_back(bind_low(claim.weight[d], chunk_point.low[d]));
  }
  const E scale = coefficient * chunk_point.padding * inside.scale;
  for (E& entry : high[0]) {
    entry *= scale;
  }
  // of few large chunks, as an embedding has, threads share the columns of each
  const bool large = shape.chunk_size() >> rows.log_rows > columns_of_part &&
                     shape.chunk_count() < 4 * static_cast<std::size_t>(omp_get_max_threads());
  const std::vector<Range> runs = column_runs(oracle, claim.tensor, band);
#pragma omp parallel if (!large && runs.size() > 1)
  {
    RunWeights weights(shape, high);
#pragma omp for schedule(dynamic, share_of(runs.size()))
    for (const Range& run : runs) {
      for (std::size_t chunk = run.first; chunk < run.last;) {
        const std::size_t first = placed.segment + (oracle.layout.offset(claim.tensor, chunk) >> rows.log_rows);
        const std::size_t count = weights.run(chunk, run.last);
        const ColumnWeights& of_chunk = weights(chunk, count);
        chunk += count;
        if (of_chunk.is_zero()) {
          continue;
        }
        if (!large) {  // a region of one thread would take longer than a small chunk's sums
          add_columns(of_chunk, first, {0, of_chunk.size()}, share);
          continue;
        }
#pragma omp parallel for schedule(dynamic, share_of(of_chunk.size() / columns_of_part))
        for (std::size_t part = 0; part < of_chunk.size(); part += columns_of_part) {
          add_columns(of_chunk, first, {part, std::min(part + columns_of_part, of_chunk.size())}, share);
        }
      }
    }
  }
}

}  // namespace

ZeroedVector<E> claim_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              const ClaimBatch& batch, const BoundVariables& bound, const ResidueShares& columns) {
  ZeroedVector<E> weights(share_size(schedule, columns));
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    const CommittedWord& word = schedule.oracles[j];
    const Placed placed{oracles[j], static_cast<std::size_t>(word.offset), bound.row_point(word.log_rows)};
    for (std::size_t i = 0; i < batch.forms[j].size(); ++i) {
      for (const std::size_t band : oracles[j].layout.bands(batch.forms[j][i]->tensor)) {
        add_band_weights(placed, *batch.forms[j][i], band, batch.coefficients[j][i], {columns, weights});
      }
    }
  }
  return weights;
}

void add_weights(const PlaceWeights& form, const WeightShare& share) {
  const auto first = static_cast<std::size_t>(form.first);
  visit_share(share.columns, first, first + form.weights.size(),
              [&](std::size_t place, std::size_t index, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) {
                  share.weights[place + i] += form.weights[index - first + i];
                }
              });
}

void add_weights(const PowerClaims& claims, std::span<const std::size_t> exponents, unsigned log_domain,
                 const WeightShare& share) {
  const ResidueShares& columns = share.columns;
  // hi = (hi1, hi0): x^hi = x^hi0 * omega_P^(exponent*hi1), P = 2^(log_domain - b): for each hi0 of this rank, side by
  // side as lanes, one transform over the exponent mod P
  const unsigned low_bits =
      std::min(ceil_log2(claims.length), std::max(5U, OpeningSchedule::folding + columns.log_count()));
  const Range low{columns.log_count() == 0 ? 0 : columns.mine().first * folded_rows,
                  columns.log_count() == 0 ? std::size_t{1} << low_bits : columns.mine().last * folded_rows};
  const unsigned log_length = log_domain - low_bits;
  // of all lanes there are as many values as the domain has points: memory for a few at a time
  const bool all_at_once = (low.size() * sizeof(E)) << log_length <= transform_bytes;
  const std::size_t lanes = all_at_once ? low.size() : std::min(low.size(), transform_lanes);
  RawVector<F> data((2 * lanes) << log_length);
  const std::size_t end = claims.offset + claims.length;
  for (std::size_t first_lane = low.first; first_lane < low.last; first_lane += lanes) {
#pragma omp parallel for schedule(static)
    for (std::size_t high = 0; high < std::size_t{1} << log_length; ++high) {
      std::fill_n(data.data() + 2 * lanes * high, 2 * lanes, F::zero());
    }
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      const std::size_t residue = exponents[i] & ((std::size_t{1} << log_length) - 1);
      F* row = data.data() + bit_reverse(residue, log_length) * 2 * lanes;
      E power = claims.coefficients[i] * claims.points[i].power(first_lane);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        row[2 * lane] += power.c0;
        row[2 * lane + 1] += power.c1;
        power *= claims.points[i];
      }
    }
    ntt(data, log_length, 2 * lanes);
#pragma omp parallel for schedule(dynamic, share_of(claims.length >> low_bits))
    for (std::size_t high = 0; high < (claims.length + (std::size_t{1} << low_bits) - 1) >> low_bits; ++high) {
      const F* value = data.data() + 2 * lanes * high;
      const std::size_t first = claims.offset + (high << low_bits) + first_lane;
      if (first >= end) {
        continue;
      }
      visit_share(columns, first, std::min(end, first + lanes), [&](std::size_t place, std::size_t, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i, value += 2) {
          share.weights[place + i] += E{value[0], value[1]};
        }
      });
    }
  }
}

}  // namespace tessera
