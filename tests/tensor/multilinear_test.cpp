#include <gtest/gtest.h>

#include "random_values.hpp"

namespace tessera::test {
namespace {

TEST(Multilinear, eq_by_definition) {
  RandomElements random(1);
  EXPECT_EQ(eq({}, {}), E::one());
  for (unsigned n = 0; n <= 6; ++n) {
    const Point a = random.elements(n);
    const Point b = random.elements(n);
    E sum;
    E scaled;
    const E scale = random.element();
    const std::vector<E> table = eq_table(a, scale);
    const EqIndices of_indices(a);
    ASSERT_EQ(table.size(), std::size_t{1} << n);
    for (std::size_t x = 0; x < table.size(); ++x) {
      EXPECT_EQ(eq_index(a, x), naive_eq(a, x));
      EXPECT_EQ(of_indices(x), naive_eq(a, x));
      EXPECT_EQ(table[x], scale * naive_eq(a, x));
      sum += naive_eq(a, x) * naive_eq(b, x);
      scaled += table[x];
    }
    EXPECT_EQ(eq(a, b), sum);
    EXPECT_EQ(eq(b, a), sum);
    EXPECT_EQ(scaled, scale);
  }
}

TEST(Multilinear, less_than_for_every_bound) {
  RandomElements random(2);
  for (unsigned n = 0; n <= 6; ++n) {
    const Point point = random.elements(n);
    E sum;
    for (std::size_t bound = 0; bound <= std::size_t{1} << n; ++bound) {
      EXPECT_EQ(less_than(point, bound), sum) << n << " " << bound;
      sum += naive_eq(point, bound);
    }
  }
}

TEST(Multilinear, less_or_equal_by_definition) {
  RandomElements random(3);
  for (unsigned x_bits = 0; x_bits <= 4; ++x_bits) {
    for (unsigned y_bits = 0; y_bits <= 4; ++y_bits) {
      const Point a = random.elements(x_bits);
      const Point b = random.elements(y_bits);
      for (const std::size_t shift : {0, 1, 2, 3, 5, 8, 13, 15, 16, 40}) {
        E sum;
        for (std::size_t y = 0; y < std::size_t{1} << y_bits; ++y) {
          for (std::size_t x = 0; x <= y + shift && x < std::size_t{1} << x_bits; ++x) {
            sum += naive_eq(a, x) * naive_eq(b, y);
          }
        }
        EXPECT_EQ(less_or_equal(a, b, shift), sum) << x_bits << " " << y_bits << " " << shift;
      }
    }
  }
}

TEST(Multilinear, bounded_less_or_equal_by_definition) {
  RandomElements random(13);
  for (unsigned x_bits = 0; x_bits <= 4; ++x_bits) {
    for (unsigned y_bits = 0; y_bits <= 4; ++y_bits) {
      const Point a = random.elements(x_bits);
      const Point b = random.elements(y_bits);
      for (const std::size_t shift : {0, 1, 3, 6, 15, 16, 31, 40}) {
        for (std::size_t bound = 0; bound <= (std::size_t{1} << y_bits) + 1; ++bound) {
          E sum;
          for (std::size_t y = 0; y < std::min(std::size_t{1} << y_bits, bound); ++y) {
            for (std::size_t x = 0; x <= y + shift && x < std::size_t{1} << x_bits; ++x) {
              sum += naive_eq(a, x) * naive_eq(b, y);
            }
          }
          ASSERT_EQ(less_or_equal(a, b, shift, bound), sum) << x_bits << " " << y_bits << " " << shift << " " << bound;
        }
      }
    }
  }
}

TEST(Multilinear, evaluate_by_definition) {
  RandomElements random(4);
  for (unsigned n = 0; n <= 7; ++n) {
    const std::vector<E> values = random.elements(std::size_t{1} << n);
    const Point point = random.elements(n);
    EXPECT_EQ(evaluate(values, point), naive_evaluate(values, point));
    std::vector<E> identity;
    for (std::size_t x = 0; x < values.size(); ++x) {
      identity.push_back(E::from_unsigned(x));
    }
    EXPECT_EQ(evaluate_identity(point), naive_evaluate(identity, point));
  }
}

TEST(Multilinear, boolean_points_read_entries) {
  RandomElements random(5);
  const std::vector<E> values = random.elements(16);
  for (std::size_t x = 0; x < 16; ++x) {
    Point point;
    for (int bit = 3; bit >= 0; --bit) {
      point.push_back(E::from_unsigned((x >> bit) & 1));
    }
    EXPECT_EQ(evaluate(values, point), values[x]);
    EXPECT_EQ(evaluate_identity(point), E::from_unsigned(x));
    for (std::size_t bound = 0; bound <= 16; ++bound) {
      EXPECT_EQ(less_than(point, bound), E::from_unsigned(x < bound ? 1 : 0));
    }
  }
}

TEST(Multilinear, presence_by_definition) {
  RandomElements random(6);
  for (const Shape& shape : shapes_of_all_kinds()) {
    const TensorPoint point = random.point(shape);
    E sum;
    for (const Entry& entry : all_entries(shape)) {
      E weight = E::one();
      for (std::size_t j = 0; j < point.size(); ++j) {
        weight *= naive_eq(point[j], entry.index[j]);
      }
      sum += entry.present ? weight : E::zero();
    }
    EXPECT_EQ(presence_at(shape, point), sum);
  }
}

TEST(Multilinear, flat_points_follow_the_flat_order) {
  RandomElements random(7);
  for (const Shape& shape : shapes_of_all_kinds()) {
    const TensorPoint point = random.point(shape);
    const Point flat = to_flat_point(shape, point);
    ASSERT_EQ(flat.size(), shape.bits());
    EXPECT_EQ(to_tensor_point(shape, flat), point);
    for (const Entry& entry : all_entries(shape)) {
      E weight = E::one();
      for (std::size_t j = 0; j < point.size(); ++j) {
        weight *= naive_eq(point[j], entry.index[j]);
      }
      ASSERT_EQ(eq_index(flat, entry.flat), weight);
    }
  }
}

TEST(Multilinear, points_of_divided_shapes_are_those_of_whole_ones) {
  RandomElements random(11);
  for (const Shape& whole : divisible_shapes()) {
    for (const int ranks : {2, 5, 64}) {
      const Shape parts = divided(whole, ranks);
      const TensorPoint point = random.point(whole);
      EXPECT_EQ(to_flat_point(parts, point), to_flat_point(whole, point));
      EXPECT_EQ(to_tensor_point(parts, to_flat_point(whole, point)), point);
      EXPECT_EQ(presence_at(parts, point), presence_at(whole, point));
      for (std::size_t j = 0; j < point.size(); ++j) {
        EXPECT_EQ(presence_along(parts.dimensions()[j], point[j]), presence_along(whole.dimensions()[j], point[j]));
      }
    }
  }
}

/// Of the last dimension a whole chunk is filled.
TEST(Multilinear, presence_of_a_dimension_by_definition) {
  RandomElements random(12);
  for (const Dimension& dimension : {Dimension{48, 4}, Dimension{5, 0}, Dimension{33, 4}, Dimension::whole(5),
                                     Dimension::cut(17, 4), Dimension::cut(96, 5), Dimension::cut(1, 4)}) {
    const Point point = random.elements(dimension.bits());
    E sum;
    for (std::size_t i = 0; i / dimension.chunk() * dimension.chunk() < dimension.length; ++i) {
      sum += naive_eq(point, i);
    }
    EXPECT_EQ(presence_along(dimension, point), sum) << dimension.length;
    EXPECT_EQ(less_than(point, dimension.filled()), sum) << dimension.length;
  }
}

TEST(Multilinear, dealt_coordinates_are_joined_again) {
  const std::vector<Dimension> dimensions{Dimension::outer(3), Dimension::outer(1), Dimension{6, 2},
                                          Dimension::whole(5)};
  const Point natural = RandomElements(9).elements(2 + 0 + 3 + 3);
  const TensorPoint point = deal(dimensions, natural);
  ASSERT_EQ(point.size(), 4U);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(point[j].size(), dimensions[j].bits());
  }
  EXPECT_EQ(joined(point, 0, 4), natural);
  EXPECT_EQ(joined(point, 2, 3), Point(natural.begin() + 2, natural.begin() + 5));
}

}  // namespace
}  // namespace tessera::test
