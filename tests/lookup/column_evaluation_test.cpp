#include <gtest/gtest.h>

#include <mutex>
#include <random>

#include "cluster/thread_communicator.hpp"
#include "lookup/column_evaluation.hpp"

namespace tessera::test {
namespace {

/// How a column's integers lie in memory.
enum class Lies : std::uint8_t { nowhere, narrow, narrow_signed, narrow_added, wide, wide_added };

/// A column's a and b as they are looked up, and as they are stored.
struct Column {
  Lies lies;
  bool has_b, narrow_b;
  std::vector<std::uint32_t> a;
  std::vector<std::int32_t> b;
  std::vector<std::uint16_t> narrow = {};
  std::vector<std::uint32_t> wide = {};
  std::vector<std::int16_t> b_narrow = {};

  [[nodiscard]] std::uint32_t added() const {
    return lies == Lies::narrow_signed  ? 1U << 15
           : lies == Lies::narrow_added ? 777U
           : lies == Lies::wide_added   ? 1U << 30
                                        : 0U;
  }
  [[nodiscard]] bool is_narrow() const {
    return lies == Lies::narrow || lies == Lies::narrow_signed || lies == Lies::narrow_added;
  }
  [[nodiscard]] LookupColumnData data(Ownership owner, std::size_t size) const {
    LookupColumnData result{
        owner, [this, size](std::size_t chunk, std::span<std::uint32_t> to_a, std::span<std::int32_t> to_b) {
          std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(chunk * size), size, to_a.begin());
          if (!to_b.empty()) {
            std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(chunk * size), size, to_b.begin());
          }
        }};
    if (lies != Lies::nowhere) {
      result.in_place = [this, size](std::size_t chunk) {
        LeafIntegers leaves{.added = added()};
        if (is_narrow()) {
          leaves.narrow = narrow.data() + chunk * size;
        } else {
          leaves.wide = wide.data() + chunk * size;
        }
        if (has_b && narrow_b) {
          leaves.narrow_b = b_narrow.data() + chunk * size;
        } else if (has_b) {
          leaves.wide_b = b.data() + chunk * size;
        }
        return leaves;
      };
    }
    return result;
  }
};

Column random_column(const Shape& shape, Lies lies, bool pairs, std::mt19937_64& random) {
  Column column{lies, pairs && random() % 3 != 0, random() % 2 == 0, {}, {}};
  for (std::size_t i = 0; i < shape.chunk_count() << shape.inner_bits(); ++i) {
    // the largest ones that there may be among them
    const std::uint64_t most = column.is_narrow() ? 0xFFFF : 0x7FFFFFFF;
    column.a.push_back(static_cast<std::uint32_t>(random() % 5 == 0 ? most : random() & most));
    const auto b = static_cast<std::int32_t>(random());
    column.b.push_back(column.narrow_b ? static_cast<std::int16_t>(b) : b);
    column.narrow.push_back(static_cast<std::uint16_t>(column.a.back() - column.added()));
    column.wide.push_back(column.a.back() - column.added());
    column.b_narrow.push_back(static_cast<std::int16_t>(column.b.back()));
  }
  return column;
}

/// The sum over present chunks, value by value.
template <class T>
E by_definition(const Shape& shape, std::span<const T> values, const Point& point) {
  const std::span<const E> at = std::span(point).last(shape.bits());
  E sum;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t chunk = i >> shape.inner_bits();
    const std::size_t index = (shape.outer_index(chunk) << shape.inner_bits()) + (i & (shape.chunk_size() - 1));
    sum += eq_index(at, index) * F::from_signed(values[i]);
  }
  return sum;
}

/// Single values, chunks shorter than a vector, several and one in a run, and longer ones; absent ones between them;
/// wherever the integers lie, on any number of ranks.
TEST(ColumnEvaluation, is_the_multilinear_extension) {
  std::mt19937_64 random(9);
  const std::vector<Shape> shapes{
      Shape({Dimension::outer(11)}),
      Shape({Dimension::outer(5), Dimension::cut(100, 3)}),
      Shape({Dimension::outer(2), Dimension::cut(72, 3), Dimension::cut(72, 3)}, Presence::causal),
      Shape({Dimension::outer(3), Dimension{1024, 9}}),
      Shape({Dimension::outer(3), Dimension{std::size_t{1} << 13, 13}}),
  };
  LookupStructure structure;
  structure.tables = {{"range", 31, {}}, {"pairs", 1, {0, 0}}};
  std::vector<Column> columns;
  for (const Shape& shape : shapes) {
    for (const Lies lies :
         {Lies::nowhere, Lies::narrow, Lies::narrow_signed, Lies::narrow_added, Lies::wide, Lies::wide_added}) {
      for (const std::size_t table : {0U, 1U}) {
        structure.columns.push_back({"column", shape, table});
        columns.push_back(random_column(shape, lies, table == 1, random));
      }
    }
  }
  Point point(20);
  std::ranges::generate(point, [&] { return E{F::from_unsigned(random()), F::from_unsigned(random())}; });
  for (const int ranks : {1, 2, 3}) {
    std::mutex mutex;
    run_ranks(ranks, [&](Communicator& comm) {
      std::vector<LookupColumnData> data;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        data.push_back(columns[c].data({0}, structure.columns[c].shape.chunk_size()));
      }
      const LookupInput input{structure, data, {}, E::one(), E::one()};
      const std::vector<ColumnValues> found = evaluate_columns(input, point, comm);
      const std::scoped_lock lock(mutex);
      ASSERT_EQ(found.size(), columns.size());
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const Shape& shape = structure.columns[c].shape;
        EXPECT_EQ(found[c].a, by_definition(shape, std::span<const std::uint32_t>(columns[c].a), point)) << c;
        const bool pairs = structure.columns[c].table == 1;
        EXPECT_EQ(found[c].b,
                  pairs ? by_definition(shape, std::span<const std::int32_t>(columns[c].b), point) : E::zero())
            << c;
      }
    });
  }
}

}  // namespace
}  // namespace tessera::test
