#include <gtest/gtest.h>

#include <chrono>

#include "arithmetic/rotary_table.hpp"
#include "subprotocols/rotary.hpp"

#include "../tensor/random_values.hpp"

namespace tessera::test {
namespace {

Rotary make_rotary(std::size_t half, std::size_t positions, std::size_t past) {
  return {std::make_shared<std::vector<std::int16_t>>(rotary_table({.theta = 1e3}, half, positions)), positions, half,
          past};
}

/// Dimensions beside those of the rotation are not looked at.
TensorPoint random_point(RandomElements& random, const Rotary& rotary, unsigned row_bits) {
  return {random.elements(2), random.elements(1), random.elements(ceil_log2(rotary.half)), random.elements(row_bits)};
}

TEST(Rotary, rows_have_positions_of_their_own_up_to_the_last_one) {
  const Rotary rotary = make_rotary(3, 10, 6);
  const std::vector<std::size_t> expected{6, 7, 8, 9, 9, 9, 9, 9};
  for (std::size_t row = 0; row < 8; ++row) {
    EXPECT_EQ(rotary.position(row), expected[row]);
    EXPECT_EQ(rotary.cos(0, row)[2], (*rotary.tables)[expected[row] * 3 + 2]);
    EXPECT_EQ(rotary.sin(0, row)[1], (*rotary.tables)[30 + expected[row] * 3 + 1]);
  }
}

TEST(Rotary, a_claim_on_rotated_values_is_one_on_the_values_with_the_weight) {
  RandomElements random(1);
  for (const auto& [half, positions, past] :
       std::vector<std::array<std::size_t, 3>>{{1, 8, 0}, {2, 5, 0}, {3, 20, 7}, {4, 10, 6}, {5, 8, 0}}) {
    const Rotary rotary = make_rotary(half, positions, past);
    const unsigned place_bits = ceil_log2(half);
    const std::size_t places = std::size_t{1} << place_bits;
    const std::size_t rows = 8;
    const TensorPoint r = random_point(random, rotary, 3);
    const TensorPoint z = random_point(random, rotary, 3);
    // x over (half, place, row), turned as complex numbers are
    std::vector<std::int64_t> x(2 * half * rows);
    for (std::int64_t& value : x) {
      value = static_cast<std::int64_t>(random.below(1U << 30)) - (1 << 29);
    }
    const auto at = [&](std::size_t h, std::size_t i, std::size_t t) { return x[(h * half + i) * rows + t]; };
    E rotated;
    E weighted;
    E weight_at_z;
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t i = 0; i < half; ++i) {
        for (std::size_t t = 0; t < rows; ++t) {
          const std::size_t position = std::min(past + t, positions - 1);
          const std::int64_t cos = (*rotary.tables)[position * half + i];
          const std::int64_t sin = (*rotary.tables)[(positions + position) * half + i];
          const std::int64_t y = h == 0 ? at(0, i, t) * cos - at(1, i, t) * sin : at(1, i, t) * cos + at(0, i, t) * sin;
          const E beta = naive_eq(r[2], i) * naive_eq(r[3], t);
          rotated += naive_eq(r[1], h) * beta * E::from_signed(y);
          // the weight by its definition: how x(h, i, t) goes into both halves
          const E to_first = E::from_signed(h == 0 ? cos : -sin);
          const E to_second = E::from_signed(h == 0 ? sin : cos);
          const E weight = beta * (naive_eq(r[1], 0) * to_first + naive_eq(r[1], 1) * to_second);
          weighted += weight * E::from_signed(at(h, i, t));
          weight_at_z += weight * naive_eq(z[1], h) * naive_eq(z[2], i) * naive_eq(z[3], t);
          // at a corner the extension is the weight
          const auto corner = [](std::size_t bits, std::size_t index) {
            return Factor::one_hot(static_cast<unsigned>(bits), index).tail;
          };
          EXPECT_EQ(rotation_at(rotary, r, {z[0], corner(1, h), corner(place_bits, i), corner(3, t)}), weight);
        }
      }
    }
    EXPECT_EQ(weighted, rotated);
    EXPECT_EQ(rotation_at(rotary, r, z), weight_at_z);
    for (std::size_t i = half; i < places; ++i) {
      EXPECT_EQ(rotation_at(rotary, r, {z[0], z[1], Factor::one_hot(place_bits, i).tail, z[3]}), E::zero());
    }
  }
}

TEST(Rotary, Slow_weight_is_evaluated_in_milliseconds) {
  const Rotary rotary = make_rotary(64, 2048, 0);
  RandomElements random(2);
  const TensorPoint r = random_point(random, rotary, 11);
  const TensorPoint z = random_point(random, rotary, 11);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(rotation_at(rotary, r, z), E::zero());
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  RecordProperty("milliseconds", std::to_string(best));
  EXPECT_LT(best, 50.0);
}

}  // namespace
}  // namespace tessera::test
