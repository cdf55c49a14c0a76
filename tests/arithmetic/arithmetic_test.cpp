#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "arithmetic/integer_product.hpp"
#include "arithmetic/tables.hpp"

#include "../field/instruction_sets.hpp"
#include "../model/random_model.hpp"

namespace tessera::test {
namespace {

TEST(ExpTable, rows_are_rounded_multiples_with_a_mark_at_zero) {
  for (const int exponent : {0, 5, 9, 12}) {
    const std::vector<std::int32_t> table = exp_table(exponent, 11);
    ASSERT_EQ(table.size(), 1U << 16);
    EXPECT_EQ(table[0], (1 << 26) + 1);
    for (std::size_t d = 1; d < table.size(); ++d) {
      const double real = 32768.0 * std::exp(-std::ldexp(static_cast<double>(d), -exponent));
      ASSERT_EQ(table[d] % 2048, 0);
      ASSERT_LE(std::fabs(table[d] / 2048 - real), 0.5 + 1e-9) << d;
    }
    EXPECT_EQ(table.back(), 0);
  }
  EXPECT_THROW(exp_table(13, 11), std::invalid_argument);
  EXPECT_THROW(exp_table(12, 14), std::invalid_argument);
}

TEST(GeluTable, rows_are_rounded_and_ties_are_below_x) {
  for (const int z_exponent : {0, 8, 11, 12, 15}) {
    for (const int g_exponent : {0, z_exponent / 2, z_exponent - 1, z_exponent}) {
      if (g_exponent < 0) {
        continue;
      }
      const std::vector<std::int32_t> table = gelu_table(z_exponent, g_exponent);
      ASSERT_EQ(table.size(), 1U << 16);
      for (int z = -32768; z < 32768; ++z) {
        const double x = std::ldexp(static_cast<double>(z), -z_exponent);
        const double slope = std::sqrt(2.0 / std::numbers::pi);
        const double real = 0.5 * x * (1.0 + std::tanh(slope * (x + 0.044715 * x * x * x)));
        const int value = table[static_cast<std::size_t>(z + 32768)];
        ASSERT_LE(std::fabs(value - std::ldexp(real, g_exponent)), 0.5 + 1e-9) << z;
      }
      EXPECT_EQ(table[32768], 0);
    }
  }
  // gelu(x) < x: half of the odd 32767 is a tie in float64 only
  EXPECT_EQ(gelu_table(11, 10).back(), 16383);
  EXPECT_THROW(gelu_table(16, 11), std::invalid_argument);
  EXPECT_THROW(gelu_table(10, -1), std::invalid_argument);
}

/// FNV-1a of a table's entries in little-endian bytes.
std::uint64_t hash_of(const std::vector<std::int32_t>& table, unsigned bytes = 2) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::int32_t entry : table) {
    for (unsigned byte = 0; byte < bytes; ++byte) {
      hash = (hash ^ (static_cast<std::uint32_t>(entry) >> (8 * byte) & 0xFFU)) * 0x100000001b3;
    }
  }
  return hash;
}

TEST(SiluTable, rows_are_those_of_200_bits) {
  // computed with mpmath at a precision of 200 bits
  EXPECT_EQ(hash_of(silu_table(0, 0)), 0x4f7e35bc59b61f25);
  EXPECT_EQ(hash_of(silu_table(8, 3)), 0xd6613e3f3741433c);
  EXPECT_EQ(hash_of(silu_table(11, 10)), 0xd4c9c262f566e74d);
  EXPECT_EQ(hash_of(silu_table(12, 11)), 0xaaf8e080fcec2512);
  EXPECT_EQ(hash_of(silu_table(15, 15)), 0xf8151b43577c687c);
  EXPECT_EQ(hash_of(silu_table(8, 14), 4), 0x46c460b723979e88);
  EXPECT_EQ(hash_of(silu_table(10, 14, 18), 4), 0x30ccb6dd8e3ca14a);
  EXPECT_EQ(hash_of(gelu_table(9, 15, 17), 4), 0x710f759af40e7fd2);
  EXPECT_THROW(silu_table(8, 17), std::invalid_argument);
  EXPECT_THROW(silu_table(10, 14, 19), std::invalid_argument);
  EXPECT_THROW(silu_table(18, 14, 18), std::invalid_argument);
}

TEST(SiluTable, rows_are_rounded_for_all_exponents) {
  for (int z_exponent = 0; z_exponent <= 15; ++z_exponent) {
    for (int g_exponent = 0; g_exponent <= std::min(22, z_exponent + 8); ++g_exponent) {
      const std::vector<std::int32_t> table = silu_table(z_exponent, g_exponent);
      for (int z = -32768; z < 32768; z += 7) {
        const double x = std::ldexp(static_cast<double>(z), -z_exponent);
        const int value = table[static_cast<std::size_t>(z + 32768)];
        ASSERT_LE(std::fabs(value - std::ldexp(x / (1 + std::exp(-x)), g_exponent)), 0.5 + 1e-9) << z;
      }
    }
  }
}

/// W*X with extreme entries, of X in this many bits, against plain int64 sums.
template <class T>
void check_product(std::size_t out, std::size_t in, std::size_t columns, bool extreme, unsigned bits = 16) {
  std::mt19937_64 engine(out * 1000 + in + columns);
  const auto fill = [&](std::size_t size) {
    std::vector<std::int16_t> values(size);
    for (std::int16_t& value : values) {
      value = extreme ? std::int16_t{-32768} : static_cast<std::int16_t>(engine());
    }
    return values;
  };
  const auto w = fill(out * in);
  std::vector<T> x(in * columns);
  for (T& value : x) {
    const std::int64_t least = -(std::int64_t{1} << (bits - 1));
    value = static_cast<T>(extreme ? least : least + static_cast<std::int64_t>(engine() >> (64 - bits)));
  }
  std::vector<std::int64_t> result(out * columns, -1);
  const Range rows{1, out - 1};
  const RowBlock<const std::int16_t> held{"w", {1, out}, in, w.data() + in};
  EXPECT_THROW(multiply(held, {0, out}, ProductInput(x, in, columns), {}), std::logic_error);
  multiply(held, rows, ProductInput(x, in, columns), [&](std::size_t row, std::span<const std::int64_t> products) {
    ASSERT_TRUE(rows.contains(row));
    std::ranges::copy(products, result.begin() + static_cast<std::ptrdiff_t>(row * columns));
  });
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < in; ++i) {
        sum += std::int64_t{w[row * in + i]} * x[i * columns + column];
      }
      ASSERT_EQ(result[row * columns + column], sum) << in << ' ' << row << ' ' << column;
    }
  }
}

TEST(CapTable, rows_are_rounded_and_odd) {
  for (const auto& [cap, z_exponent, exponent] :
       {std::tuple{50.0, 9, 10}, {50.0, 11, 11}, {50.0, 0, 12}, {4.0, 13, 9}, {0.37, 15, 12}, {1e5, 0, 2}}) {
    const std::vector<std::int32_t> table = cap_table(cap, z_exponent, exponent);
    ASSERT_EQ(table.size(), 1U << 16U);
    EXPECT_EQ(table[1U << 15U], 0);
    for (int z = -32768; z < 32768; ++z) {
      const std::int32_t value = table[static_cast<std::size_t>(z + 32768)];
      // float64 is exact enough to say which integers may be nearest
      const double real = std::ldexp(cap * std::tanh(std::ldexp(z, -z_exponent) / cap), exponent);
      EXPECT_LE(std::abs(value - real), 0.5 + 1e-9) << cap << ", " << z;
      EXPECT_LT(std::abs(value), 1 << 19);
      EXPECT_TRUE(z == -32768 || value == -table[static_cast<std::size_t>(32768 - z)]);
      EXPECT_TRUE(z == -32768 || value >= table[static_cast<std::size_t>(z + 32767)]);
    }
  }
}

/// Below a tie by less than float64 sees: half a unit less x^3/(3*cap^2).
TEST(CapTable, what_would_be_a_tie_without_a_cap_is_below_it) {
  const std::vector<std::int32_t> table = cap_table(50, 13, 12);
  for (int z = 1; z < 64; z += 2) {  // z/2 units
    EXPECT_EQ(table[static_cast<std::size_t>(32768 + z)], z / 2);
    EXPECT_EQ(table[static_cast<std::size_t>(32768 - z)], -(z / 2));
  }
}

TEST(CapTable, refuses_what_does_not_fit) {
  EXPECT_THROW(cap_table(0, 10, 10), std::invalid_argument);
  EXPECT_THROW(cap_table(50, -1, 10), std::invalid_argument);
  EXPECT_THROW(cap_table(50, 16, 10), std::invalid_argument);
  EXPECT_THROW(cap_table(50, 10, 13), std::invalid_argument);
  EXPECT_THROW(cap_table(128, 10, 12), std::invalid_argument);
  EXPECT_NO_THROW(cap_table(127.9, 10, 12));
}

TEST(IntegerProduct, is_exact) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    for (const std::size_t columns : {1, 2, 3, 4, 7, 8, 9, 16, 17, 33}) {
      for (const std::size_t in : {1, 12, 31, 32, 33, 479, 480, 481, 1000}) {
        for (const bool extreme : {false, true}) {
          check_product<std::int16_t>(9, in, columns, extreme);
          check_product<std::int32_t>(9, in, columns, extreme);
          check_product<std::int32_t>(9, in, columns, extreme, 24);
        }
      }
      check_product<std::int16_t>(130, 64, columns, false);
      check_product<std::int32_t>(130, 64, columns, false, 24);
      // more than sums of 32 bits have room for, in every lane
      check_product<std::int16_t>(4, 20000, columns, true);
      check_product<std::int32_t>(4, 20000, columns, true, 24);
    }
  });
}

/// Sums of 32 bits are widened before they overflow: factors as large as can be, all of one sign or the first of two
/// halves, of a row among small ones, and where every product but a few is 0.
TEST(IntegerProduct, sums_are_widened_in_time) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    constexpr std::size_t in = 1003, columns = 40, out = 7;
    for (const std::int32_t value : {32767, -32767, (1 << 29) - 1, 1 - (1 << 29), INT32_MIN}) {
      for (const std::size_t zeros : {0, 1, 6, 100, 501}) {
        for (const int weight : {-32768, 32767}) {
          std::vector<std::int16_t> w(out * in, 1);
          std::vector<std::int32_t> x(in * columns, value);
          std::int64_t large = 0;
          for (std::size_t i = 0; i < in; ++i) {
            const bool zero = zeros != 0 && i / zeros % 2 == 0;
            w[4 * in + i] = static_cast<std::int16_t>(zero ? 0 : weight);
            large += zero ? 0 : std::int64_t{weight} * value;
          }
          multiply({"w", {0, out}, in, w.data()}, {0, out}, ProductInput(x, in, columns),
                   [&](std::size_t row, std::span<const std::int64_t> products) {
                     for (const std::int64_t product : products) {
                       EXPECT_EQ(product, row == 4 ? large : std::int64_t{value} * std::int64_t{in})
                           << value << ' ' << zeros << ' ' << weight;
                     }
                   });
        }
      }
    }
  });
}

/// Of a few values more than 16 bits: each is where its column's and row's products are, whatever the weights, and as
/// large as two digits are taken for. Of many they are two digits.
TEST(IntegerProduct, few_large_values_are_added) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    std::mt19937_64 random(3);
    for (const std::size_t columns : {9, 33, 64}) {
      for (const std::int32_t large : {-32768, 32768, -32769, 1 << 20, (1 << 29) - 1, 1 - (1 << 29)}) {
        for (const std::size_t step : {1, 3, 400, 1700}) {  // from one of them to the next
          constexpr std::size_t in = 301, out = 17;
          SCOPED_TRACE(::testing::Message() << columns << ' ' << large << ' ' << step);
          std::vector<std::int16_t> w(out * in);
          for (std::int16_t& weight : w) {
            weight = random() % 4 == 0 ? std::int16_t{-32768} : static_cast<std::int16_t>(random());
          }
          std::vector<std::int32_t> x(in * columns);
          for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = i % step == step / 2 ? large : static_cast<std::int16_t>(random());
          }
          const Digits digits(std::span<const std::int32_t>(x), in, columns);
          EXPECT_EQ(digits.count(), step > 3 ? 1 : 2);
          EXPECT_EQ(digits.excess().empty(), step <= 3);
          multiply({"w", {0, out}, in, w.data()}, {0, out}, ProductInput(x, in, columns),
                   [&](std::size_t row, std::span<const std::int64_t> products) {
                     for (std::size_t column = 0; column < columns; ++column) {
                       std::int64_t sum = 0;
                       for (std::size_t i = 0; i < in; ++i) {
                         sum += std::int64_t{w[row * in + i]} * x[i * columns + column];
                       }
                       EXPECT_EQ(products[column], sum) << row << ' ' << column;
                     }
                   });
        }
      }
    }
  });
}

/// The values between which the number of digits changes; whole vectors and parts of one.
TEST(IntegerProduct, digits_are_enough) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    constexpr std::int32_t two = std::int32_t{1} << 29;  // digits, below it
    for (const std::int32_t value : {32767, 32768, -32767, -32768, -32769, 8388607, 8388608, -8388608, -8388609,
                                     two - 1, two, 1 - two, -two, INT32_MAX, INT32_MIN, 127, 128, -128, -129}) {
      for (const std::size_t columns : {1, 9, 33}) {
        const std::vector<std::int16_t> w{-32768, 32767};
        const std::vector<std::int32_t> x(2 * columns, value);
        multiply({"w", {0, 1}, 2, w.data()}, {0, 1}, ProductInput(x, 2, columns),
                 [&](std::size_t, std::span<const std::int64_t> products) {
                   for (const std::int64_t product : products) {
                     EXPECT_EQ(product, -std::int64_t{value});
                   }
                 });
      }
    }
  });
}

}  // namespace
}  // namespace tessera::test
