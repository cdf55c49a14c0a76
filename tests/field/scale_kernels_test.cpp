#include "field/scale_kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "instruction_sets.hpp"

namespace tessera::test {
namespace {

/// Sums of products of 16-bit integers, of which signed and unsigned ones may meet, at odd addresses.
void compare(std::size_t count, std::size_t values) {
  std::mt19937_64 random(count + values);
  std::vector<std::byte> bytes(1 + 2 * values * count);
  std::vector<ScaledIntegers> terms;
  std::vector<F> start;
  for (std::size_t i = 0; i < values; ++i) {
    start.push_back(F::from_unsigned(random()));
  }
  std::vector<F> expected = start;
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_signed = random() % 2 == 0;
    const F factor = k % 3 == 0 ? F::from_signed(-1) : F::from_unsigned(random());
    terms.push_back({bytes.data() + 1 + 2 * values * k, static_cast<std::uint16_t>(is_signed ? 1U << 15 : 0), factor});
    for (std::size_t i = 0; i < values; ++i) {
      const auto value = static_cast<std::uint16_t>(k % 5 == 0 ? (i % 2 == 0 ? 0xFFFF : 0x8000) : random());
      std::memcpy(bytes.data() + 1 + 2 * (values * k + i), &value, sizeof(value));
      expected[i] += factor * (is_signed ? F::from_signed(static_cast<std::int16_t>(value)) : F::from_unsigned(value));
    }
  }
  with_each_instruction_set([&](const char* name) {
    std::vector<F> sums = start;
    add_scaled_integers(terms, values, sums.data());
    EXPECT_EQ(sums, expected) << name << ", " << count << " terms of " << values;
  });
}

TEST(ScaledIntegers, add_up_as_elements) {
  for (const std::size_t count : {0U, 1U, 7U, 64U, 300U}) {
    for (const std::size_t values : {8U, 16U, 32U, 40U, 64U}) {
      compare(count, values);
    }
  }
  compare(ScaledIntegers::max_terms, 8);
}

TEST(Scaled, elements_as_one_by_one) {
  std::mt19937_64 random(3);
  const auto part = [&] { return random() % 4 == 0 ? F::from_signed(-1) : F::from_unsigned(random()); };
  const auto element = [&] { return E{part(), part()}; };
  for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 16U, 33U}) {
    std::vector<E> values;
    std::vector<E> start;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(element());
      start.push_back(element());
    }
    const E factor = element();
    with_each_instruction_set([&](const char* name) {
      SCOPED_TRACE(name);
      std::vector<E> products(count);
      std::vector<E> sums = start;
      scale(factor, values.data(), count, products.data());
      add_scaled(factor, values.data(), count, sums.data());
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(products[i], factor * values[i]);
        EXPECT_EQ(sums[i], start[i] + factor * values[i]);
      }
    });
  }
}

}  // namespace
}  // namespace tessera::test
