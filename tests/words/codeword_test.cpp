#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include "cluster/thread_communicator.hpp"
#include "field/ntt.hpp"

#include "../opening/opening_case.hpp"

namespace tessera::test {
namespace {

struct Column {
  std::size_t position;
  std::vector<F> values;
};

std::size_t points_of(unsigned log_domain, const OracleParameters& parameters) {
  return (std::size_t{64} - parameters.absent_pieces) << (log_domain - 6);
}

/// The exponent of a leaf: of a domain in 64 pieces those of piece p end with p's six bits in reverse.
std::size_t exponent_of(std::size_t leaf, unsigned log_domain, const OracleParameters& parameters) {
  if (parameters.absent_pieces == 0) {
    return leaf;
  }
  const std::size_t piece = leaf >> (log_domain - 6);
  std::size_t reversed = 0;
  for (unsigned bit = 0; bit < 6; ++bit) {
    reversed |= (piece >> bit & 1U) << (5 - bit);
  }
  return 64 * (leaf % (std::size_t{1} << (log_domain - 6))) + reversed;
}

/// Some columns by definition.
std::vector<Column> naive_columns(const OracleLayout& layout, const OracleParameters& parameters,
                                  const std::vector<IntegerTensor>& tensors) {
  const std::size_t all = std::size_t{1} << parameters.log_rows;
  const std::vector<F> coefficients = OpeningCase::matrix(layout, parameters, tensors);
  const unsigned log_domain = layout.log_domain(parameters);
  const std::size_t points = points_of(log_domain, parameters);
  std::vector<Column> columns;
  for (std::size_t x = 1; x < points; x += points / 12 - 1) {
    const F point = F::root_of_unity(log_domain).power(exponent_of(x, log_domain, parameters));
    Column column{x, std::vector<F>(parameters.rows())};
    F power = F::one();
    for (std::size_t i = 0; i < coefficients.size(); i += all, power *= point) {
      for (std::size_t row = 0; row < parameters.rows(); ++row) {
        column.values[row] += power * coefficients[i + row];
      }
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Nodes above no leaf are asked for from the level of pieces on alone, where they are zero.
std::vector<Digest> level_of(CodewordStore& store, unsigned level, unsigned top, std::size_t points) {
  std::vector<std::size_t> indices(top - level <= 6 ? std::size_t{1} << (top - level) : points >> level);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return store.nodes(level, indices);
}

void expect_columns(CodewordStore& store, const std::vector<Column>& expected, unsigned log_domain,
                    const OracleParameters& parameters) {
  const std::size_t points = points_of(log_domain, parameters);
  std::vector<std::size_t> positions;
  std::vector<F> values;
  for (const Column& column : expected) {
    positions.push_back(column.position);
    values.insert(values.end(), column.values.begin(), column.values.end());
  }
  EXPECT_EQ(store.columns(positions), values);
  std::vector<Digest> nodes = level_of(store, 0, log_domain, points);
  for (const Column& column : expected) {
    EXPECT_EQ(nodes[column.position], hash_leaf(column.values));
  }
  for (unsigned level = 1; level <= log_domain; ++level) {
    const std::vector<Digest> parents = level_of(store, level, log_domain, points);
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const bool absent = log_domain - level == 6 && parameters.absent_pieces > 0 && i << level >= points;
      ASSERT_EQ(parents[i], absent ? Digest{} : hash_node(nodes[2 * i], nodes[2 * i + 1])) << level << " " << i;
    }
    nodes = parents;
  }
  EXPECT_EQ(store.root(), nodes.front());
}

/// Kept or computed again, on any number of ranks.
TEST(CommittedOracle, agrees_with_the_definition) {
  SelfCommunicator self;
  const OpeningCase full(self);
  for (const OracleParameters& parameters :
       {OracleParameters{7, 1}, OracleParameters{4, 2}, OracleParameters{7, 1, 16}}) {
    for (std::size_t j = 0; j < 2; ++j) {
      const OracleLayout layout(full.oracles[j].layout.tensors(), parameters);
      const unsigned log_domain = layout.log_domain(parameters);
      const std::vector<Column> expected = naive_columns(layout, parameters, full.witnesses[j].tensors);
      for (const int ranks : {1, 2, 3, 4, 5, 12, 16, 32}) {
        const auto check = [&](Communicator& comm) {
          const OpeningCase mine(comm);
          for (const std::size_t budget : {std::size_t{0}, std::numeric_limits<std::size_t>::max()}) {
            SCOPED_TRACE(::testing::Message()
                         << ranks << " ranks, " << parameters.rows() << " rows, budget " << budget);
            expect_columns(*commit_oracle(layout, parameters, mine.witnesses[j].tensors, comm, budget), expected,
                           log_domain, parameters);
          }
        };
        run_ranks(ranks, check);
      }
    }
  }
}

/// Hashed as they are encoded: classes of one pass and of two. More than is placed at once, in chunks of all sizes:
/// longer and shorter than the stride of an evaluation's parts, and shorter than a column.
TEST(CommittedOracle, opened_columns_of_a_long_oracle_agree_with_the_definition) {
  const std::vector<Shape> shapes{Shape({Dimension::outer(3), Dimension::whole(512), Dimension::whole(512)}),
                                  Shape({Dimension::outer(37), Dimension::whole(2048)}),
                                  Shape({Dimension::outer(3), Dimension{280, 3}})};
  for (const OracleParameters& parameters :
       {OracleParameters{7, 1}, OracleParameters{4, 2}, OracleParameters{6, 1, 16}, OracleParameters{7, 1, 16},
        OracleParameters{6, 1, 16, 13}, OracleParameters{7, 2, 16, 31}, OracleParameters{4, 2, 0, 1},
        OracleParameters{6, 1, 24}, OracleParameters{6, 1, 8, 20}}) {
    const OracleLayout layout(shapes, parameters);
    const unsigned log_domain = layout.log_domain(parameters);
    std::vector<Column> expected;
    for (const int ranks : {1, 2, 3, 4, 16, 40}) {
      SCOPED_TRACE(::testing::Message() << ranks << " ranks, " << parameters.rows() << " rows, "
                                        << parameters.absent_pieces << " pieces absent");
      run_ranks(ranks, [&](Communicator& comm) {
        const auto first = filled<std::int16_t>(shapes[0], Ownership{0}, 1, comm);
        const auto second = filled<std::int32_t>(shapes[1], Ownership{0}, 2, comm);
        const auto third = filled<std::uint16_t>(shapes[2], Ownership{0}, 3, comm);
        const std::vector<IntegerTensor> tensors{&first, &second, &third};
        if (comm.size() == 1) {
          expected = naive_columns(layout, parameters, tensors);
        }
        const auto store = commit_oracle(layout, parameters, tensors, comm, 0);
        expect_columns(*store, expected, log_domain, parameters);
      });
    }
  }
}

/// Kept or computed again, by a rank alone (long ones hashed as they are encoded) or at shared positions; the last
/// columns may be missing, and pieces of the domain.
TEST(CommittedVector, agrees_with_the_transform) {
  RandomElements random(5);
  for (const unsigned log_rows : {3U, 4U}) {
    for (const unsigned log_columns : {3U, 12U, 13U}) {
      constexpr unsigned log_inverse_rate = 4;
      const unsigned log_domain = log_columns + log_inverse_rate;
      const std::size_t width = std::size_t{2} << log_rows;
      const std::vector<E> vector = random.elements(((std::size_t{1} << log_columns) - 3) << log_rows);
      std::vector<F> codeword(width << log_domain);
      for (std::size_t i = 0; i < vector.size(); ++i) {
        const std::size_t slot = bit_reverse(i >> log_rows, log_domain);
        const std::size_t place = slot * width + 2 * (i & ((std::size_t{1} << log_rows) - 1));
        codeword[place] = vector[i].c0;
        codeword[place + 1] = vector[i].c1;
      }
      ntt(codeword, log_domain, width, log_inverse_rate);
      std::vector<Column> expected;
      for (std::size_t x = 0; x >> log_domain == 0; x += 1 + random.below(std::size_t{1} << (log_domain - 4))) {
        const auto first = codeword.begin() + static_cast<std::ptrdiff_t>(x * width);
        expected.push_back({x, {first, first + static_cast<std::ptrdiff_t>(width)}});
      }
      std::vector<Column> in_pieces;
      const OracleParameters some{.absent_pieces = 29};
      const std::size_t points = log_domain < 12 ? 0 : points_of(log_domain, some);
      for (std::size_t leaf = 0; leaf < points; leaf += 1 + random.below(points / 16)) {
        const std::size_t x = exponent_of(leaf, log_domain, some);
        const auto first = codeword.begin() + static_cast<std::ptrdiff_t>(x * width);
        in_pieces.push_back({leaf, {first, first + static_cast<std::ptrdiff_t>(width)}});
      }
      const SharedVector shared{vector, log_rows, ResidueShares(log_columns, 0, 1)};
      for (const int ranks : {1, 3, 4}) {
        run_ranks(ranks, [&](Communicator& comm) {
          expect_columns(*commit_vector(shared, {log_domain}, comm), expected, log_domain, {});
          if (points > 0) {
            expect_columns(*commit_vector(shared, {log_domain, some.absent_pieces}, comm), in_pieces, log_domain, some);
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
