#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/vector_arithmetic_test.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_extension-inl.hpp"

#ifndef TESSERA_TEST_ROWS
#define TESSERA_TEST_ROWS
namespace tessera::test {
/// Operands, all canonical, and what the vectors make of them: (operand, row).
struct ArithmeticRows {
  std::vector<std::array<std::uint64_t, 4>> in;  // a and b of E
  std::vector<std::array<std::uint64_t, 10>> out;
};
}  // namespace tessera::test
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// a0*b0; a0 + b0; a0 - b0; a0*(b0 mod 2^32); a*b; a + b*(a - b); three products a*b, summed.
void arithmetic_rows(test::ArithmeticRows& rows) {
#if HWY_TARGET != HWY_SCALAR
  const Lanes lanes;
  const std::size_t step = hn::Lanes(lanes);
  for (std::size_t row = 0; row < rows.in.size(); row += step) {
    std::array<std::array<std::uint64_t, 8>, 4> in{};
    for (std::size_t lane = 0; lane < step; ++lane) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        in[i][lane] = rows.in[(row + lane) % rows.in.size()][i];
      }
    }
    const VE a{hn::LoadU(lanes, in[0].data()), hn::LoadU(lanes, in[1].data())};
    const VE b{hn::LoadU(lanes, in[2].data()), hn::LoadU(lanes, in[3].data())};
    const VFactor by_b = factor(b);
    const VE product = multiply(a, by_b);
    const VE line = on_line(a, subtract(a, b), by_b);
    WideE wide = no_products_apart();
    for (int i = 0; i < 3; ++i) {
      wide = carried(add_product(wide, a, by_b));
    }
    const VE sum = reduce(wide);
    const std::array<V, 10> made{multiply(a.c0, b.c0),
                                 add(a.c0, b.c0),
                                 subtract(a.c0, b.c0),
                                 multiply_small(a.c0, hn::And(b.c0, epsilon())),
                                 product.c0,
                                 product.c1,
                                 line.c0,
                                 line.c1,
                                 sum.c0,
                                 sum.c1};
    for (std::size_t i = 0; i < made.size(); ++i) {
      std::array<std::uint64_t, 8> values{};
      hn::StoreU(made[i], lanes, values.data());
      for (std::size_t lane = 0; lane < step && row + lane < rows.out.size(); ++lane) {
        rows.out[row + lane][i] = values[lane];
      }
    }
  }
#else
  rows.out.clear();
#endif
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "instruction_sets.hpp"

namespace tessera {
namespace {

HWY_EXPORT(arithmetic_rows);

F element(std::uint64_t value) { return F::from_canonical(value); }

std::array<std::uint64_t, 10> expected(const std::array<std::uint64_t, 4>& in) {
  const E a{element(in[0]), element(in[1])};
  const E b{element(in[2]), element(in[3])};
  const E product = a * b;
  const E line = a - b * b;
  const E sum = product + product + product;
  return {(a.c0 * b.c0).value(), (a.c0 + b.c0).value(),
          (a.c0 - b.c0).value(), (a.c0 * element(in[2] & 0xFFFFFFFFU)).value(),
          product.c0.value(),    product.c1.value(),
          line.c0.value(),       line.c1.value(),
          sum.c0.value(),        sum.c1.value()};
}

/// Where halves are 0 or full, carries and borrows begin and end.
TEST(VectorArithmetic, agrees_with_elements_on_every_instruction_set) {
  std::vector<std::uint64_t> edges;
  constexpr std::array<std::uint64_t, 8> halves{0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
  for (const std::uint64_t high : halves) {
    for (const std::uint64_t low : halves) {
      if (const std::uint64_t value = high << 32U | low; value < F::modulus) {
        edges.push_back(value);
      }
    }
  }
  test::ArithmeticRows rows;
  std::mt19937_64 generator(1);
  const auto any = [&] { return generator() % 2 == 0 ? edges[generator() % edges.size()] : generator() % F::modulus; };
  for (const std::uint64_t a : edges) {
    for (const std::uint64_t b : edges) {
      rows.in.push_back({a, any(), b, any()});
    }
  }
  test::with_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    rows.out.assign(rows.in.size(), {});
    HWY_DYNAMIC_DISPATCH(arithmetic_rows)(rows);
    for (std::size_t row = 0; row < rows.out.size(); ++row) {
      ASSERT_EQ(rows.out[row], expected(rows.in[row])) << row;
    }
  });
}

}  // namespace
}  // namespace tessera
#endif
