#include <gtest/gtest.h>

#include "integer_model/integer_model.hpp"
#include "subprotocols/matrix_product.hpp"

#include "layer_case.hpp"

namespace tessera::test {
namespace {

ModelPlan plan_of(const ModelShape& shape, const Statement& statement) {
  RandomModel generator(5);
  VerifyingKey key = make_verifying_key(generator.make(shape));
  key.filler = 2;
  return ModelPlan::of(key, statement);
}

TEST(HeadPadding, weights_are_rows_of_the_padding_matrices) {
  RandomElements random(1);
  for (const auto& [features, heads] : std::vector<std::array<std::size_t, 2>>{{36, 3}, {80, 2}, {32, 4}, {15, 3}}) {
    const std::size_t m = features / heads;
    const HeadLayout layout{heads, m};
    const std::size_t m_hat = std::size_t{1} << ceil_log2(m);
    const unsigned feature_bits = ceil_log2(features);
    const unsigned padded_bits = ceil_log2(heads * m_hat);
    // P[x][j] = 1 iff j = head*m_hat + place, x = head*m + place; U = P^T
    std::vector<std::vector<E>> padding(std::size_t{1} << feature_bits, std::vector<E>(std::size_t{1} << padded_bits));
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t place = 0; place < m; ++place) {
        padding[head * m + place][head * m_hat + place] = E::one();
      }
    }
    const Point padded = random.elements(padded_bits);
    const Point feature = random.elements(feature_bits);
    const std::vector<E> to_feature = padded_to_feature(layout, feature_bits, padded).table();
    const std::vector<E> to_padded = feature_to_padded(layout, padded_bits, feature).table();
    ASSERT_EQ(to_feature.size(), padding.size());
    ASSERT_EQ(to_padded.size(), padding.front().size());
    for (std::size_t x = 0; x < features; ++x) {
      EXPECT_EQ(to_feature[x], naive_evaluate(padding[x], padded));
    }
    // dummy places of a head are no features; where m is a power of two both layouts are one
    for (std::size_t j = 0; j < to_padded.size(); ++j) {
      std::vector<E> column;
      for (const std::vector<E>& row : padding) {
        column.push_back(row[j]);
      }
      if (j < heads * m_hat) {
        EXPECT_EQ(to_padded[j], naive_evaluate(column, feature)) << j;
      }
    }
  }
}

TEST(HeadPadding, weights_of_split_heads_are_points_of_the_tensor) {
  RandomElements random(8);
  SelfCommunicator self;
  for (const auto& [heads, group, size] : std::vector<std::array<std::size_t, 3>>{{3, 3, 12}, {2, 7, 8}, {1, 2, 10}}) {
    const HeadLayout layout{heads, size, group, true};
    const Dimension block = Dimension::outer(3);
    const Dimension token = Dimension::whole(4);
    const Shape queries = layout.queries(block, token);
    const Shape keys = layout.keys(block, token);
    // the place as a half of a head and the place in it
    const Shape split_queries(
        {block, Dimension::outer(heads), Dimension::outer(group), Dimension{2, 1}, Dimension::whole(size / 2), token});
    const Shape split_keys({block, Dimension::outer(heads), Dimension{2, 1}, Dimension::whole(size / 2), token});
    const auto expect = [&](const Shape& heads_shape, const Shape& own) {
      const auto tensor = filled<std::int16_t>(own, {}, 5, self);
      const TensorPoint at = random.point(heads_shape);
      const std::vector<Factor> weight = head_weight(layout, own, at, Factor::at(at.back()));
      ASSERT_EQ(weight.size(), own.dimensions().size());
      // chunks and flat order are the same
      EXPECT_EQ(weighted_sum(&tensor, own, weight, self), weighted_sum(&tensor, heads_shape, weight_at(at), self));
    };
    expect(queries, queries);
    expect(queries, split_queries);
    expect(keys, keys);
    expect(keys, split_keys);
    // features of y in the order of head, group and place, places padded
    const auto y = filled<std::int16_t>(queries, {}, 6, self);
    const TensorPoint at{random.elements(2), random.elements(ceil_log2(heads) + ceil_log2(group) + ceil_log2(size)),
                         random.elements(2)};
    E expected;
    for (const Entry& entry : all_entries(queries)) {
      if (entry.present) {
        const std::size_t feature =
            (((entry.index[1] << ceil_log2(group)) + entry.index[2]) << ceil_log2(size)) + entry.index[3];
        expected += naive_eq(at[0], entry.index[0]) * naive_eq(at[1], feature) * naive_eq(at[2], entry.index[4]) *
                    E::from_signed(y.chunk(entry.chunk)[entry.place]);
      }
    }
    EXPECT_EQ(weighted_sum(&y, queries, feature_weight(layout, queries, at), self), expected);
  }
}

TEST(HeadPadding, weights_of_features_are_padded) {
  RandomElements random(9);
  for (const auto& [heads, size] : std::vector<std::array<std::size_t, 2>>{{3, 12}, {4, 8}}) {
    const HeadLayout layout{heads, size};
    const Dimension block = Dimension::outer(2);
    const Dimension token = Dimension::whole(4);
    const Dimension feature =
        layout.whole() ? Dimension{heads * size, ceil_log2(size)} : Dimension::tiled(heads * size);
    const Shape shape({block, feature, token});
    for (const Shape& points : {layout.queries(block, token), layout.keys(block, token)}) {
      const TensorPoint at = random.point(points);
      const std::vector<Factor> weight = head_weight(layout, shape, at, Factor::at(at.back()));
      ASSERT_EQ(weight.size(), 3U);
      EXPECT_EQ(weight[1].table(), padded_to_feature(layout, feature.bits(), joined(at, 1, at.size() - 1)).table());
    }
  }
}

TEST(Attention, seen_row_weight_and_masked_places_by_definition) {
  RandomElements random(2);
  SelfCommunicator self;
  struct Case {
    unsigned query_bits, key_bits;
    std::size_t past;
    Dimension rows = Dimension::whole(8);
    std::vector<std::uint32_t> windows = {};
  };
  for (const Case& sizes : {Case{0, 0, 0},
                            {1, 1, 0},
                            {3, 3, 0},
                            {1, 1, 1},
                            {1, 1, 6},
                            {2, 2, 13},
                            {3, 4, 5},
                            {3, 2, 9},
                            {0, 3, 0},
                            {0, 2, 5},
                            {1, 3, 6},
                            {2, 4, 13},
                            {0, 0, 3},
                            // three and five chunks of rows
                            {2, 2, 0, {12, 2}},
                            {1, 2, 0, {12, 2}},
                            {0, 2, 0, {12, 2}},
                            {2, 3, 5, {12, 2}},
                            {0, 2, 6, {12, 2}},
                            {1, 1, 0, {10, 1}},
                            {1, 4, 13, {10, 1}},
                            // windows of some blocks
                            {0, 0, 0, Dimension::whole(8), {3, 0, 1}},
                            {1, 1, 6, Dimension::whole(8), {2, 2, 2}},
                            {3, 4, 5, Dimension::whole(8), {5, 0, 7}},
                            {2, 2, 13, Dimension::whole(8), {20, 13, 0}},
                            {2, 2, 0, {12, 2}, {0, 4, 11}},
                            {1, 4, 13, {10, 1}, {9, 0, 16}}}) {
    SCOPED_TRACE(std::to_string(sizes.query_bits) + ", " + std::to_string(sizes.key_bits) + ", " +
                 std::to_string(sizes.past) + ", " + std::to_string(sizes.rows.length));
    const Shape rows({Dimension::outer(3), Dimension::outer(2), Dimension::outer(3), sizes.rows});
    const Dimension query{sizes.rows.length, sizes.query_bits};
    const Dimension key{sizes.rows.length + sizes.past, sizes.key_bits};
    AttentionPlan attention;
    attention.past = sizes.past;
    attention.rows = rows;
    attention.scores = Shape({Dimension::outer(3), Dimension::outer(2), Dimension::outer(3), query, key},
                             Presence::causal, sizes.windows);
    const Shape& scores = attention.scores;
    const TensorPoint at = random.point(scores);
    const auto maxima = filled<std::int16_t>(rows, {}, 77, self);
    const std::vector<E> row_max = dense_values(&maxima, rows);
    E maximum;
    E masked;
    for (const Entry& entry : all_entries(scores)) {
      E weight = E::one();
      for (std::size_t j = 0; j < 5; ++j) {
        weight *= naive_eq(at[j], entry.index[j]);
      }
      if (entry.present) {
        const std::size_t last_key = entry.index[3] + sizes.past;
        const std::size_t window = sizes.windows.empty() ? 0 : sizes.windows[entry.index[0]];
        const bool hidden = entry.index[4] > last_key || (window > 0 && entry.index[4] + window <= last_key);
        const std::size_t outer = (entry.index[0] * 2 + entry.index[1]) * 4 + entry.index[2];
        const E& of_row = row_max[(outer << sizes.rows.bits()) + entry.index[3]];
        maximum += hidden ? E::zero() : weight * of_row;
        masked += hidden ? weight : E::zero();
      }
    }
    E weighted;
    for (const std::vector<Factor>& weight : seen_row_weights(attention, at)) {
      weighted += weighted_sum(&maxima, rows, weight, self);
    }
    EXPECT_EQ(weighted, maximum);
    EXPECT_EQ(masked_places(attention, at), masked);
  }
}

TEST(Logits, generated_rows_select_the_rows_before_the_generated_tokens) {
  RandomElements random(3);
  const ModelPlan plan = plan_of({1, 12, 3, 16, 20, 16}, {{1, 2, 3, 4, 5}, {6, 7, 8}});
  const Point point = random.elements(2);
  std::vector<E> expected(8);
  for (std::size_t g = 0; g < 3; ++g) {
    expected[5 + g - 1] = naive_eq(point, g);
  }
  EXPECT_EQ(generated_rows(plan, point).table(), expected);
  // five chunks of rows
  const ModelPlan longer = plan_of({1, 12, 3, 16, 20, 48}, {std::vector<std::uint32_t>(30, 1), {6, 7, 8}});
  EXPECT_EQ(longer.rows, 40U);
  expected.assign(64, E::zero());
  for (std::size_t g = 0; g < 3; ++g) {
    expected[30 + g - 1] = naive_eq(point, g);
  }
  EXPECT_EQ(generated_rows(longer, point).table(), expected);
}

TEST(Logits, token_rows_add_the_weights_of_repeated_tokens) {
  RandomElements random(4);
  const std::vector<std::uint32_t> tokens{3, 69, 3, 0};
  const std::vector<E> weights = random.elements(4);
  std::vector<E> expected(128);
  expected[3] = weights[0] + weights[2];
  expected[69] = weights[1];
  expected[0] = weights[3];
  const Point feature = random.elements(3);
  const std::vector<Factor> rows = token_rows(7, tokens, weights, feature);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].table(), expected);
  EXPECT_EQ(rows[1].table(), eq_table(feature));
}

TEST(Embedding, rows_of_a_continuation_have_later_positions) {
  const Point row = RandomElements(6).elements(3);
  const std::vector<E> weights = eq_table(row);
  for (const std::size_t past : {0, 1, 5, 11, 13}) {
    for (const std::size_t rows : {8, 6, 5}) {  // there may be fewer than places
      std::vector<E> expected(16);
      for (std::size_t i = 0; i < rows; ++i) {
        expected[std::min<std::size_t>(past + i, 13)] += weights[i];
      }
      EXPECT_EQ(row_positions(Dimension::whole(14), past, rows, row).table(), expected) << past;
    }
  }
  // filler of a beginning behind the last position has none
  std::vector<E> expected(weights.begin(), weights.begin() + 5);
  expected.resize(8);
  EXPECT_EQ(row_positions(Dimension::whole(5), 0, 8, row).table(), expected);
}

TEST(Cache, placed_rows_and_rows_of_a_state_by_definition) {
  RandomElements random(7);
  for (const unsigned position_bits : {3U, 4U, 5U}) {
    const Point position = random.elements(position_bits);
    const std::vector<E> weights = eq_table(position);
    for (const Dimension& rows : {Dimension{4, 2}, Dimension{4, 1}, Dimension{3, 0}, Dimension{6, 1}}) {
      for (const std::size_t past : {0, 1, 2}) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{3}, rows.length}) {
          std::vector<E> expected(std::size_t{1} << rows.bits());
          std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(past), count, expected.begin());
          std::vector<E> found = placed_rows(rows, past, count, position).table();
          ASSERT_EQ(found.size(), expected.size());
          // where all rows have their places, whatever stands at absent ones, which are zero
          found.resize(rows.filled());
          expected.resize(rows.filled());
          EXPECT_EQ(found, expected);
        }
      }
    }
    // positions that only one of both has are zero
    std::vector<E> expected(16);
    std::copy_n(weights.begin(), std::min<std::size_t>(16, weights.size()), expected.begin());
    EXPECT_EQ(state_rows(4, position).table(), expected);
  }
}

TEST(Embedding, weights_are_the_one_hot_product_and_the_leading_rows) {
  RandomElements random(5);
  SelfCommunicator self;
  const std::vector<std::uint32_t> prompt{4, 69, 4};
  for (const std::size_t more : {0, 39}) {  // 5 tokens of 8 rows, 44 of 48, of which positions end at 45
    Statement statement{prompt, {0, 11}};
    statement.prompt.resize(3 + more, 6);
    const ModelPlan plan = plan_of({3, 12, 3, 16, 70, more == 0 ? std::size_t{16} : 45}, statement);
    std::vector<std::uint32_t> tokens = statement.prompt;
    tokens.insert(tokens.end(), {0, 11});
    tokens.resize(more == 0 ? 8 : 48, 2);
    EXPECT_EQ(row_tokens(plan, statement), tokens);
    const TensorPoint at = random.point(plan.shapes.block_feature);
    const EmbeddingWeights weights = embedding_weights(plan, plan.embedding, statement, at);
    const auto& shapes = plan.parameter_layout.tensors();
    const auto table = filled<std::int16_t>(shapes[embedding], {}, 6, self);
    auto positions = filled<std::int16_t>(shapes[position], {}, 7, self);
    for (std::size_t i = plan.model.n_positions * 16; i < positions.values().size(); ++i) {
      positions.values()[i] = 0;  // what a commitment pads
    }
    const auto x_in = filled<std::int32_t>(plan.shapes.block_feature, {}, 8, self);
    const std::vector<E> rows = dense_values(&table, shapes[embedding]);
    const std::vector<E> position_rows = dense_values(&positions, shapes[position]);
    const std::vector<E> x = dense_values(&x_in, plan.shapes.block_feature);
    const std::size_t stride = std::size_t{1} << at[2].size();
    E embedded;
    E placed;
    E input;
    for (std::size_t f = 0; f < 16; ++f) {
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        const E weight = naive_eq(at[1], f) * naive_eq(at[2], t);
        embedded += weight * rows[tokens[t] * 16 + f];
        placed += weight * position_rows[t * 16 + f];
        input += weight * x[f * stride + t];
      }
    }
    EXPECT_EQ(weighted_sum(&table, shapes[embedding], weights.embedding, self), embedded);
    EXPECT_EQ(weighted_sum(&positions, shapes[position], weights.position, self), placed);
    EXPECT_EQ(weighted_sum(&x_in, plan.shapes.block_feature, weights.input, self), input);
  }
}

TEST(Mlp, next_block_reads_one_block_later) {
  RandomElements random(6);
  for (std::size_t blocks = 1; blocks <= 5; ++blocks) {
    const Point point = random.elements(ceil_log2(blocks));
    std::vector<E> expected(std::size_t{1} << point.size());
    for (std::size_t b = 0; b + 1 < blocks; ++b) {
      expected[b + 1] = naive_eq(point, b);
    }
    EXPECT_EQ(next_block(point, blocks).table(), expected) << blocks;
  }
}

TEST(MatrixProduct, weight_with_several_dimensions_out_and_in) {
  RandomElements random(8);
  const Dimension block = Dimension::outer(3);
  const Shape weight({block, Dimension::outer(3), Dimension::whole(5), Dimension::outer(2), Dimension::whole(6)});
  const TensorPoint out{random.elements(2), random.elements(2), random.elements(3), random.elements(4)};
  const Point blocks = random.elements(2);
  const Point in = random.elements(4);
  const std::vector<Factor> factors = matrix_weight(weight, blocks, out, in);
  ASSERT_EQ(factors.size(), 5U);
  const std::array<Point, 5> expected{blocks, out[1], out[2], Point{in[0]}, Point(in.begin() + 1, in.end())};
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_EQ(factors[j].table(), eq_table(expected[j]));
  }
}

TEST(MatrixProduct, powers) {
  RandomElements random(7);
  const E base = random.element();
  EXPECT_EQ(powers(base, 1), (std::vector<E>{E::one()}));
  EXPECT_EQ(powers(base, 4), (std::vector<E>{E::one(), base, base * base, base * base * base}));
}

}  // namespace
}  // namespace tessera::test
