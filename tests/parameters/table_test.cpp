#include <gmock/gmock.h>

#include <set>

#include "parameters/table.hpp"
#include "plan/parameters.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;

// heads of 32, 12 and 40 features: one chunk each, padded, straddling chunks of features
const std::vector<ModelShape> shapes{{2, 128, 4, 512, 300, 64}, {2, 96, 8, 192, 130, 512}, {1, 80, 2, 100, 70, 32}};

TEST(ParameterTable, names_and_exponents_are_of_one_parameter_each) {
  std::set<std::string_view> names;
  std::set<ScaleId> scales;
  for (const ParameterRow& row : parameter_table({})) {
    EXPECT_EQ(parameter_row({}, row.id).name, row.name);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    const bool own = scales.insert(row.scale({})).second;
    EXPECT_EQ(own, row.id != position) << row.name;  // embeddings share the residual's
  }
}

TEST(ParameterTable, exponents_are_visited_once_in_the_order_of_the_key) {
  Exponents exponents;
  std::vector<std::string_view> names;
  for_each_exponent(ModelShape{}, exponents, [&](std::string_view name, std::int32_t& value) {
    value = static_cast<std::int32_t>(names.size());
    names.push_back(name);
  });
  EXPECT_EQ(names, (std::vector<std::string_view>{"residual", "u1",    "u2",     "uf",   "q",  "k",  "v",      "score",
                                                  "mlp",      "gelu",  "wq",     "wk",   "wv", "wo", "w1",     "w2",
                                                  "bq",       "bk",    "bv",     "bo",   "b1", "b2", "gamma1", "beta1",
                                                  "gamma2",   "beta2", "gammaf", "betaf"}));
  EXPECT_EQ(exponents[wq], 10);
  EXPECT_EQ(exponents[betaf], 27);
}

TEST(ParameterTable, ranks_hold_what_they_own_and_compute_with) {
  for (const ModelShape& shape : shapes) {
    for (const ParameterRow& row : parameter_table(shape)) {
      for (const int ranks : {1, 2, 3, 4, 9}) {
        SCOPED_TRACE(std::string(row.name) + " on " + std::to_string(ranks));
        const Division division = Division::finest(ranks);
        const Shape tensor = row.oracle_shape(shape, division);
        const std::size_t dimension = row.per_block ? 1 : 0;
        std::vector<int> holders(row.extents(shape).rows);
        for (int rank = 0; rank < ranks; ++rank) {
          const Range held = row.held_rows(shape, rank, division);
          for (std::size_t i = held.first; i < held.last; ++i) {
            ++holders.at(i);
          }
          const ChunkedTensor<std::int16_t> owned(tensor, row.ownership(), rank, ranks);
          for (const std::size_t chunk : owned.held()) {
            const Dimension& rows = tensor.dimensions()[dimension];
            const std::size_t first = tensor.coordinate(chunk, dimension) << rows.log_chunk;
            EXPECT_TRUE(held.contains(Range{first, std::min(first + rows.chunk(), rows.length)})) << rank;
          }
          if (row.rows == ParameterAxis::head_feature) {
            const Range heads = owned_rows(Dimension::outer(shape.n_head), rank, ranks);
            const std::size_t m = shape.head_size();
            EXPECT_TRUE(heads.size() == 0 || held.contains(Range{heads.first * m, heads.last * m})) << rank;
          }
        }
        EXPECT_THAT(holders, Each(Gt(0)));
        if (!row.sharded) {
          EXPECT_THAT(holders, Each(ranks));
        } else if (row.rows != ParameterAxis::head_feature) {
          EXPECT_THAT(holders, Each(1));
        }
      }
    }
  }
}

/// Parts of weights and of what they make of so many tokens are whole columns of an oracle and blocks of the look-ups.
TEST(Division, parts_have_256_cells) {
  using enum ParameterAxis;
  for (const ModelShape& shape : shapes) {
    for (const int ranks : {2, 3, 16, 200}) {
      for (const std::size_t tokens : {1, 2, 8, 64, 1024}) {
        const Division division{ranks, tokens};
        for (const ParameterRow& row : parameter_table(shape)) {
          const Shape tensor = row.oracle_shape(shape, division);
          EXPECT_TRUE(!tensor.is_divided() || tensor.chunk_size() >= 256) << row.name;
          EXPECT_EQ(tensor.undivided(), row.oracle_shape(shape)) << row.name;
        }
        for (const ParameterAxis axis : {feature, inner}) {
          const Dimension rows = division.rows(axis, shape);
          EXPECT_TRUE(rows.log_parts == 0 || rows.chunk() * tokens >= 256) << tokens;
        }
        EXPECT_EQ(division.rows(head_feature, shape).log_parts, 0U);
      }
    }
  }
}

TEST(Division, is_finer_for_more_ranks_and_tokens) {
  using enum ParameterAxis;
  const ModelShape gpt2{12, 768, 12, 3072, 50257, 1024};
  EXPECT_EQ((Division{1, 512}.rows(feature, gpt2)), Dimension::tiled(768));
  EXPECT_EQ((Division{16, 0}.rows(feature, gpt2)), Dimension::tiled(768));
  EXPECT_EQ((Division{3, 512}.rows(feature, gpt2)), Dimension::tiled(768));
  EXPECT_EQ((Division{16, 512}.rows(feature, gpt2).chunk()), 16U);  // 48 parts
  EXPECT_EQ((Division{64, 512}.rows(feature, gpt2).chunk()), 4U);
  EXPECT_EQ((Division{64, 16}.rows(feature, gpt2).chunk()), 16U);
  EXPECT_EQ((Division{64, 512}.rows(inner, gpt2).chunk()), 16U);
  EXPECT_EQ((Division{16, 512}.rows(vocabulary, gpt2).chunk()), 256U);
  EXPECT_TRUE((Division{16, 64}.same(Division::finest(16), gpt2)));
  EXPECT_FALSE((Division{64, 16}.same(Division::finest(64), gpt2)));
  EXPECT_FALSE((Division{16, 64}.same({8, 64}, gpt2)));
}

TEST(Parameters, rows_that_are_not_held_are_an_error) {
  const ModelShape shape{2, 256, 4, 768, 600, 64};
  const Parameters p(shape, 1, {2, 0});
  const Range held = p[w1].held();
  ASSERT_EQ(held, (Range{512, 768}));
  EXPECT_EQ(p[w1].values().size(), 2U * 256 * 256);  // no memory for the others
  const auto block = p[w1].block(1);
  EXPECT_EQ(block.row(767).size(), 256U);
  EXPECT_EQ(block.row(512).data(), p[w1].values().data() + 256 * 256);
  EXPECT_EQ(block.rows(held).data() + block.rows(held).size(), p[w1].values().data() + p[w1].values().size());
  for (const Range rows : {Range{511, 512}, Range{0, 1}, Range{500, 600}, Range{768, 769}, Range{700, 800}}) {
    EXPECT_THROW(static_cast<void>(block.rows(rows)), std::logic_error) << rows.first;
  }
  EXPECT_TRUE(block.rows({7, 7}).empty());
  try {
    static_cast<void>(block.row(3));
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("w1"), HasSubstr("3 to 4"), HasSubstr("512 to 768")));
  }
}

}  // namespace
}  // namespace tessera::test
