#include <algorithm>

#include "field/integer_products.hpp"
#include "opening/matrix_columns.hpp"
#include "opening/row_claims.hpp"

namespace tessera {

ChunkColumns chunk_columns(const CommittedOracle& oracle, std::size_t tensor, std::size_t chunk) {
  const unsigned log_rows = oracle.parameters.band(oracle.layout.band(tensor, chunk)).log_rows;
  return {oracle.layout.offset(tensor, chunk) >> log_rows,
          columns_of(oracle.layout.tensors()[tensor].chunk_size(), log_rows).count};
}

namespace {

/// Columns [first, last) of a chunk times `weights` of their rows.
template <class T>
void bind_columns(std::span<const E> weights, std::span<const T> columns, Range some, std::span<E> to) {
  dot_integer_rows(weights, columns.subspan(some.first * weights.size(), some.size() * weights.size()),
                   to.subspan(some.first, some.size()));
}

}  // namespace

void bind_rows(const CommittedOracle& oracle, const OracleWitness& witness, std::span<const E> weights,
               const Communicator& comm,
               const std::function<std::span<E>(std::size_t tensor, std::size_t chunk)>& place) {
  for (std::size_t band = 0; band < oracle.parameters.band_count();
       ++band) {  // one after the other: they have the same columns
    const RowBand rows = oracle.parameters.band(band);
    const std::span<const E> of_band = weights.subspan(rows.first, rows.rows());
    for (std::size_t t = 0; t < witness.tensors.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
            const Shape& shape = tensor->shape();
            const ColumnCounts columns = columns_of(shape.chunk_size(), rows.log_rows);
            const std::vector<std::size_t>& held = tensor->held();
            const std::size_t at_once = std::max<std::size_t>(1, columns_at_once / columns.count);
            const std::size_t parts = (columns.count + columns_of_part - 1) / columns_of_part;
            const auto is_bound = [&](std::size_t i) {
              return oracle.layout.band(t, held[i]) == band && counts(*tensor, held[i], comm);
            };
#pragma omp parallel for schedule(dynamic, 4)
            for (std::size_t unit = 0; unit < (held.size() + at_once - 1) / at_once * parts; ++unit) {
              const std::size_t first = unit / parts * at_once, end = std::min(first + at_once, held.size());
              for (std::size_t i = first; i < end;) {
                if (!is_bound(i)) {
                  ++i;
                  continue;
                }
                // chunks whose columns lie side by side
                const std::span<E> to = place(t, held[i]);
                std::size_t count = 1;
                while (i + count < end && is_bound(i + count) &&
                       place(t, held[i + count]).data() == to.data() + count * columns.count) {
                  ++count;
                }
                const std::span values(tensor->chunk(held[i]).data(), count << shape.inner_bits());
                const std::size_t all = count * columns.count, part = unit % parts;
                bind_columns(of_band.first(columns.rows), values, {all * part / parts, all * (part + 1) / parts},
                             std::span(to.data(), all));
                i += count;
              }
            }
          },
          witness.tensors[t]);
    }
  }
}

}  // namespace tessera
