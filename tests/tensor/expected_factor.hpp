#pragma once

#include <gtest/gtest.h>

#include "tensor/chunked_factor.hpp"

#include "random_values.hpp"

namespace tessera::test {

inline const Shape score_shape({Dimension::outer(3), Dimension::outer(2), Dimension{8, 1}, Dimension{8, 1}},
                               Presence::causal);

/// The factor's values in present chunks, and its extension over all tiles, absent ones too, against value(entry).
template <class Value>
void expect_values(const ChunkedFactor& factor, const Value& value, Communicator& comm,
                   const Shape& shape = score_shape) {
  const std::vector<Entry> entries = all_entries(shape);
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (Ownership{1}.owner(shape, chunk, comm.size()) != comm.rank()) {
      continue;
    }
    std::vector<E> values(shape.chunk_size());
    fill_chunk(factor, chunk, values);
    for (const Entry& entry : entries) {
      if (entry.present && entry.chunk == chunk) {
        EXPECT_EQ(values[entry.place], value(entry)) << chunk << " " << entry.place;
      }
    }
  }
  const Point inner = RandomElements(5).elements(shape.inner_bits());
  std::vector<E> expected(std::size_t{1} << shape.outer_bits());
  for (const Entry& entry : entries) {
    expected[entry.flat / shape.chunk_size()] += eq_index(inner, entry.place) * value(entry);
  }
  EXPECT_EQ(outer_table(factor, inner, comm), expected);
}

}  // namespace tessera::test
