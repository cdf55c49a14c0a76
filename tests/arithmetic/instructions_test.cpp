#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>

#include "arithmetic/instructions.hpp"
#include "arithmetic/product_kernels.hpp"
#include "base/errors.hpp"

namespace tessera::test {
namespace {

/// In a process of its own, because limits stay: whether kernels then run as `set` or, where the processor has not
/// that, as before.
bool limited(const char* name, Instructions set, std::int64_t wider, std::size_t panel_rows) {
  const std::size_t rows_before = product_panel_rows();
  const Instructions before = instructions_in_use();
  limit_instructions(name);
  return instructions_in_use() == std::min(set, before) &&
         product_panel_rows() == (set < before ? panel_rows : rows_before) && (hwy::SupportedTargets() & wider) == 0;
}

#if HWY_ARCH_X86
constexpr Instructions vectors = Instructions::avx512;
constexpr const char* elsewhere = "neon";

TEST(Instructions, nothing_wider_than_the_limit_runs) {
  const auto exits = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(std::exit(limited("scalar", Instructions::scalar, HWY_AVX3_DL | HWY_AVX3 | HWY_AVX2, 4) ? 0 : 1), exits,
              "");
  EXPECT_EXIT(std::exit(limited("avx2", Instructions::avx2, HWY_AVX3_DL | HWY_AVX3, 4) ? 0 : 1), exits, "");
  constexpr std::size_t widest = (HWY_TARGETS & HWY_AVX3) != 0 ? 12 : 4;  // in this build
  EXPECT_EXIT(std::exit(limited("avx512", Instructions::avx512, HWY_AVX3_DL, widest) ? 0 : 1), exits, "");
  EXPECT_EXIT(std::exit(limited("ifma", Instructions::ifma, 0, widest) ? 0 : 1), exits, "");
}
#else
constexpr Instructions vectors = Instructions::neon;
constexpr const char* elsewhere = "avx2";

TEST(Instructions, nothing_wider_than_the_limit_runs) {
  const auto exits = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(std::exit(limited("scalar", Instructions::scalar, HWY_NEON, 4) ? 0 : 1), exits, "");
  EXPECT_EXIT(std::exit(limited("neon", Instructions::neon, 0, 12) ? 0 : 1), exits, "");
}
#endif

TEST(Instructions, a_limit_is_not_raised) {
  const auto raised = [] {
    limit_instructions(Instructions::scalar);
    limit_instructions(vectors);
    return instructions_in_use() != Instructions::scalar || product_panel_rows() != 4;
  };
  EXPECT_EXIT(std::exit(raised() ? 1 : 0), ::testing::ExitedWithCode(0), "");
}

TEST(Instructions, names_are_those_of_limits) {
  const std::vector<std::string_view> names = instruction_names();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.front(), "scalar");
  EXPECT_EQ(std::ranges::count(names, elsewhere), 0);
  const auto only_plain = [] {
    limit_instructions("scalar");
    return instruction_names().size() == 1;
  };
  EXPECT_EXIT(std::exit(only_plain() ? 0 : 1), ::testing::ExitedWithCode(0), "");
  for (const std::string_view name : names) {
    EXPECT_EXIT((limit_instructions(name), std::exit(instruction_names().back() == name ? 0 : 1)),
                ::testing::ExitedWithCode(0), "")
        << name;
  }
}

TEST(Instructions, a_limit_of_another_architecture_is_the_widest_set_below_it) {
  const auto below = [] {
    limit_instructions(Instructions::neon);
    return instructions_in_use() == (vectors == Instructions::neon ? Instructions::neon : Instructions::scalar);
  };
  EXPECT_EXIT(std::exit(below() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(Instructions, unknown_names_are_refused) {
  for (const char* name : {"", "AVX2", "mmx", "avx", elsewhere}) {
    EXPECT_THROW(limit_instructions(name), InputError) << name;
  }
}

}  // namespace
}  // namespace tessera::test
