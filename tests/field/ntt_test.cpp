#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include "field/point_evaluation.hpp"
#include <vector>

#include "instruction_sets.hpp"

namespace tessera::test {
namespace {

/// Reed-Solomon by definition: values of `columns` coefficient vectors at all points of the coset.
std::vector<F> naive(const std::vector<F>& coefficients, unsigned log_length, std::size_t lanes, Coset coset = {}) {
  std::vector<F> values(lanes << log_length);
  const F root = F::root_of_unity(log_length + coset.log_count);
  for (std::size_t x = 0; x >> log_length == 0; ++x) {
    const F point = root.power(coset.number + (x << coset.log_count));
    F power = F::one();
    for (std::size_t i = 0; i * lanes < coefficients.size(); ++i, power *= point) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        values[x * lanes + lane] += coefficients[i * lanes + lane] * power;
      }
    }
  }
  return values;
}

void compare(unsigned log_length, std::size_t lanes, unsigned log_padding) {
  std::mt19937_64 random(log_length * 100 + lanes);
  std::vector<F> coefficients(lanes << (log_length - log_padding));
  for (F& value : coefficients) {
    const std::uint64_t drawn = random();
    value = drawn % 5 == 0 ? F::from_signed(-1) : F::from_unsigned(drawn);
  }
  std::vector<F> data(lanes << log_length, F::from_canonical(77));
  for (std::size_t i = 0; i < coefficients.size() / lanes; ++i) {
    const std::size_t slot = bit_reverse(i, log_length);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      data[slot * lanes + lane] = coefficients[i * lanes + lane];
    }
  }
  const std::size_t apart = lanes + 3;
  const F between = F::from_canonical(78);
  std::vector<F> spread(apart << log_length, between);
  for (std::size_t slot = 0; slot >> log_length == 0; ++slot) {
    std::copy_n(data.data() + slot * lanes, lanes, spread.data() + slot * apart);
  }
  for (const Coset coset :
       {Coset{1, 1}, Coset{2, 2}, Coset{3, 2}, Coset{5, 3}, Coset{4, 5}, Coset{63, 6}, Coset{77, 9}}) {
    std::vector<F> on_coset = data;
    ntt(on_coset, log_length, lanes, log_padding, lanes, coset);
    ASSERT_EQ(on_coset, naive(coefficients, log_length, lanes, coset))
        << log_length << " " << lanes << " " << log_padding << ", " << coset.number << " of 2^" << coset.log_count;
  }
  ntt(data, log_length, lanes, log_padding);
  const std::vector<F> values = naive(coefficients, log_length, lanes);
  ASSERT_EQ(data, values) << log_length << " " << lanes << " " << log_padding;

  ntt(spread, log_length, lanes, log_padding, apart);
  for (std::size_t slot = 0; slot >> log_length == 0; ++slot) {
    const F* const row = spread.data() + slot * apart;
    ASSERT_TRUE(std::equal(row, row + lanes, values.data() + slot * lanes))
        << log_length << " " << lanes << " " << slot;
    ASSERT_TRUE(std::all_of(row + lanes, row + apart, [&](F value) { return value == between; }));
  }

  std::vector<std::size_t> positions;
  std::vector<F> expected;
  for (std::size_t x = 0; x >> log_length == 0; x += 1 + random() % 5) {
    positions.push_back(x);
    expected.insert(expected.end(), values.begin() + static_cast<std::ptrdiff_t>(x * lanes),
                    values.begin() + static_cast<std::ptrdiff_t>((x + 1) * lanes));
  }
  for (const std::size_t stride : {1U, 3U}) {
    PointEvaluation evaluation(log_length, lanes, log_padding, positions);
    std::vector<F> parts(evaluation.parts() * evaluation.part_size(), F::from_canonical(77));
    std::size_t added = 0;
    for (std::size_t first = 0; first < std::min(stride, evaluation.parts()); ++first) {
      const std::size_t count = (evaluation.parts() - first + stride - 1) / stride;
      for (std::size_t i = 0; i < coefficients.size() / lanes; ++i) {
        const std::size_t part = i & (evaluation.parts() - 1);
        if (part % stride == first) {
          std::copy_n(coefficients.data() + i * lanes, lanes,
                      parts.data() + (added + part / stride) * evaluation.part_size() + evaluation.place(i));
        }
      }
      const std::size_t some = count / 3;
      const std::span<F> these = std::span(parts).subspan(added * evaluation.part_size());
      evaluation.add({first, stride}, these.first(some * evaluation.part_size()));
      evaluation.add({first + some * stride, stride},
                     these.first(count * evaluation.part_size()).subspan(some * evaluation.part_size()));
      added += count;
    }
    ASSERT_TRUE(std::ranges::equal(evaluation.values(), expected))
        << log_length << " " << lanes << " " << log_padding << " " << stride;
    PointEvaluation filled(log_length, lanes, log_padding, positions);
    for (std::size_t first = 0; first < std::min(stride, filled.parts()); ++first) {
      filled.add({first, stride}, (filled.parts() - first + stride - 1) / stride, [&](std::size_t part, F* rows) {
        for (std::size_t i = part; i < coefficients.size() / lanes; i += filled.parts()) {
          std::copy_n(coefficients.data() + i * lanes, lanes, rows + filled.place(i));
        }
      });
    }
    ASSERT_TRUE(std::ranges::equal(filled.values(), expected));
  }
}

TEST(Ntt, agrees_with_the_definition) {
  for (const std::size_t lanes : {1U, 2U, 7U, 16U, 33U}) {
    for (unsigned log_length = 0; log_length <= 6; ++log_length) {
      for (unsigned log_padding = 0; log_padding <= log_length && log_padding <= 4; ++log_padding) {
        compare(log_length, lanes, log_padding);
      }
    }
  }
}

TEST(Ntt, every_instruction_set_agrees_with_the_definition) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    compare(7, 16, 1);
    compare(8, 8, 0);
    compare(6, 8, 1);
    compare(5, 35, 2);
    compare(1, 8, 0);
    compare(2, 8, 0);
    compare(10, 8, 1);
  });
}

TEST(Ntt, several_passes_agree_with_the_definition) {
  compare(11, 17, 1);
  compare(8, 1024, 3);  // passes of 5 layers
  compare(13, 9, 9);
}

/// Coefficients that are put in and values that are taken out while it runs are those of the transform in memory.
void compare_streamed(unsigned log_length, std::size_t lanes, unsigned log_padding, Coset coset) {
  std::mt19937_64 random(log_length);
  std::vector<F> coefficients(lanes << (log_length - log_padding));
  std::ranges::generate(coefficients, [&] { return F::from_unsigned(random()); });
  std::vector<F> data(lanes << log_length);
  for (std::size_t i = 0; i < coefficients.size() / lanes; ++i) {
    std::copy_n(coefficients.data() + i * lanes, lanes, data.data() + bit_reverse(i, log_length) * lanes);
  }
  const auto put = [&](const CoefficientBlock& block) {
    const unsigned log_count = log_length - log_padding - block.log_distance;
    for (std::size_t slot = 0; slot >> log_count == 0; ++slot) {
      for (std::size_t i = 0; i < block.neighbours; ++i) {
        const std::size_t n = block.first + i + (bit_reverse(slot, log_count) << block.log_distance);
        std::copy_n(coefficients.data() + n * lanes, n >> (log_length - log_padding) == 0 ? lanes : 0,
                    block.slot(i, slot << log_padding));
      }
    }
  };
  std::vector<F> put_in(data.size());
  ntt(put_in, log_length, lanes, log_padding, lanes, coset, put);
  std::vector<F> taken(data.size());
  std::vector<F> scratch(data.size());
  ntt(scratch, log_length, lanes, log_padding, coset, put, [&](const ValueBlock& block) {
    for (std::size_t i = 0; i < block.neighbours; ++i) {
      for (std::size_t row = 0; row < block.rows; ++row) {
        std::copy_n(block.slot(i, row), lanes, taken.data() + (block.first + i + (row << block.log_distance)) * lanes);
      }
    }
  });
  ntt(data, log_length, lanes, log_padding, lanes, coset);
  EXPECT_EQ(put_in, data) << log_length << " " << lanes << " " << log_padding;
  EXPECT_EQ(taken, data) << log_length << " " << lanes << " " << log_padding;
}

TEST(Ntt, values_are_taken_on_the_way) {
  for (const std::size_t lanes : {3U, 8U, 16U}) {
    compare_streamed(0, lanes, 0, {});
    compare_streamed(3, lanes, 1, {1, 2});
    compare_streamed(11, lanes, 0, {});
    compare_streamed(13, lanes, 1, {3, 2});
    compare_streamed(16, lanes, 0, {1, 1});
  }
  compare_streamed(9, 4096, 0, {});  // three passes in memory
}

}  // namespace
}  // namespace tessera::test
