#include <gtest/gtest.h>

#include <cmath>

#include "arithmetic/rotary_table.hpp"
#include "parameters/shape.hpp"

namespace tessera::test {
namespace {

/// FNV-1a of the entries, two bytes each, low one first.
std::uint64_t checksum(const std::vector<std::int16_t>& table) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::int16_t entry : table) {
    for (const unsigned byte : {static_cast<unsigned>(entry) & 0xffU, (static_cast<unsigned>(entry) >> 8) & 0xffU}) {
      hash = (hash ^ byte) * 0x100000001b3;
    }
  }
  return hash;
}

struct Case {
  Rope rope;
  std::size_t half, positions;
  std::uint64_t expected;
};

// Checksums of tables that another program computed with 250 bits, rounding the real values.
const std::vector<Case> cases{
    {{1e4}, 4, 1024, 0x2baf056c299e62ca},
    {{5e5, RopeScaling::llama3, 32, 1, 4, 8192}, 32, 512, 0xfb559c890f9c65c6},
    {{1e6}, 64, 512, 0xeb6ce193dbfdc0a8},
    {{1e4, RopeScaling::linear, 2.5}, 5, 700, 0x1026b77771aa6fa8},
    {{5e5, RopeScaling::llama3, 8, 1, 4, 64}, 16, 256, 0xe6dad182a05c5851},
    {{1}, 1, 64, 0xaa2abe7b2b40fcc7},
    {{1e7}, 3, 4096, 0x148c39d54b84d0a0},
};

TEST(RotaryTable, entries_are_the_correctly_rounded_ones) {
  for (const Case& c : cases) {
    const std::vector<std::int16_t> table = rotary_table(c.rope, c.half, c.positions);
    ASSERT_EQ(table.size(), 2 * c.half * c.positions);
    EXPECT_EQ(checksum(table), c.expected) << c.rope.theta << ' ' << c.half;
  }
}

TEST(RotaryTable, entries_are_those_of_the_formula) {
  const double theta = 1e5;
  const std::size_t half = 12;
  const std::size_t positions = 300;
  const std::vector<std::int16_t> table = rotary_table({theta}, half, positions);
  for (std::size_t position = 0; position < positions; ++position) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) * std::pow(theta, -static_cast<double>(i) / half);
      const std::size_t at = position * half + i;
      ASSERT_NEAR(table[at], std::ldexp(std::cos(angle), rotation_exponent), 0.5 + 1e-6) << position << ' ' << i;
      ASSERT_NEAR(table[positions * half + at], std::ldexp(std::sin(angle), rotation_exponent), 0.5 + 1e-6)
          << position << ' ' << i;
    }
  }
}

TEST(RotaryTable, fewer_positions_are_the_beginning) {
  const std::vector<std::int16_t> table = rotary_table({1e4}, 4, 100);
  const std::vector<std::int16_t> shorter = rotary_table({1e4}, 4, 33);
  for (std::size_t i = 0; i < 33 * 4; ++i) {
    EXPECT_EQ(shorter[i], table[i]);
    EXPECT_EQ(shorter[33 * 4 + i], table[100 * 4 + i]);
  }
}

TEST(RotaryTable, refuses_what_is_out_of_range) {
  EXPECT_THROW(rotary_table({0.5}, 4, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({NAN}, 4, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e10}, 4, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4}, 0, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4}, 257, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4}, 4, 0), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4}, 4, 8193), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4, RopeScaling::linear, 0.5}, 4, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4, RopeScaling::llama3, 8, 4, 4, 8192}, 4, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4, RopeScaling::llama3, 8, 0, 4, 8192}, 4, 16), std::invalid_argument);
  EXPECT_THROW(rotary_table({1e4, RopeScaling::llama3, 8, 1, 4, 2}, 4, 16), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::test
