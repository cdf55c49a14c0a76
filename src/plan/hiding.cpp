#include "plan/hiding.hpp"

#include <algorithm>

#include "opening/schedule.hpp"
#include "plan/plan.hpp"

namespace tessera {

std::size_t parameter_tail_columns(std::uint64_t proofs) {
  constexpr unsigned highest_rate = rate_unit / 2;
  return positions_for(highest_rate, OpeningSchedule::default_grinding) * static_cast<std::size_t>(proofs);
}

Shape columns_shape(std::size_t columns, unsigned log_rows) {
  // few chunks, whatever a key asks for
  constexpr unsigned log_chunks = 10;
  const unsigned log_cells = ceil_log2(columns << log_rows);
  const unsigned log_chunk = std::max(most_log_rows, log_cells - std::min(log_cells, log_chunks));
  const std::size_t in_chunk = std::size_t{1} << (log_chunk - log_rows);
  return Shape({Dimension::outer((columns + in_chunk - 1) / in_chunk), Dimension::whole(std::size_t{1} << log_chunk)});
}

OracleLayout parameter_layout(const VerifyingKey& key, const Division& division) {
  std::vector<Shape> shapes = parameter_shapes(key.shape, division);
  if (key.hiding_proofs > 0) {
    shapes.push_back(columns_shape(parameter_tail_columns(key.hiding_proofs), key.parameter_oracle.log_rows));
  }
  return {std::move(shapes), key.parameter_oracle};
}

}  // namespace tessera
