#include <gtest/gtest.h>

#include "base/bits.hpp"
#include "plan/plan.hpp"

namespace tessera::test {
namespace {

struct Cut {
  std::size_t tokens, chunks, chunk;
};

/// A row's chunk is as src/spec/protocol.md says: the least of 16, 32, 64 of which there are 24 at most, else 128; half
/// of it where the last one would be half empty, if these are not too many; or one for all.
TEST(Passes, rows_are_cut_by_their_number) {
  for (const auto& [tokens, chunks, chunk] : std::vector<Cut>{
           {2, 1, 2},       {3, 1, 4},      {15, 1, 16},    {16, 1, 16},    {17, 3, 8},     {24, 3, 8},
           {25, 2, 16},     {47, 3, 16},    {88, 11, 8},    {89, 6, 16},    {96, 6, 16},    {97, 13, 8},
           {129, 17, 8},    {136, 17, 8},   {137, 9, 16},   {257, 33, 8},   {280, 35, 8},   {281, 18, 16},
           {289, 19, 16},   {384, 24, 16},  {385, 25, 16},  {400, 25, 16},  {401, 13, 32},  {512, 16, 32},
           {513, 33, 16},   {545, 35, 16},  {560, 35, 16},  {561, 18, 32},  {577, 19, 32},  {768, 24, 32},
           {769, 25, 32},   {801, 13, 64},  {1024, 16, 64}, {1025, 33, 32}, {1120, 35, 32}, {1121, 18, 64},
           {1153, 19, 64},  {1536, 24, 64}, {1537, 25, 64}, {2049, 33, 64}, {2240, 35, 64}, {2305, 19, 128},
           {3072, 24, 128}, {4096, 32, 128}}) {
    SCOPED_TRACE(tokens);
    const Passes passes = Passes::of({.prompt = tokens - 1, .generated = 1});
    EXPECT_EQ(passes.rows.chunk_count(), chunks);
    EXPECT_EQ(passes.rows.chunk(), chunk);
    EXPECT_EQ(passes.rows.length, chunks * chunk) << "whole chunks";
    EXPECT_EQ(passes.rows.length, passes.rows.filled());
    EXPECT_LT(passes.rows.length - tokens, chunk) << "filler in the last chunk only";
    EXPECT_EQ(passes.queries, passes.rows);
    EXPECT_EQ(passes.keys, passes.rows) << "of a beginning";
    // whatever of them is generated
    EXPECT_EQ(Passes::of({.prompt = 1, .generated = tokens - 1}).rows, passes.rows);
  }
}

TEST(Passes, one_token_more_is_one_chunk_more) {
  std::size_t before = 2;
  for (std::size_t tokens = 3; tokens <= 4096; ++tokens) {
    const Passes passes = Passes::of({.prompt = tokens - 2, .generated = 2});
    ASSERT_GE(passes.rows.length, tokens);
    ASSERT_GE(passes.rows.length, before);
    ASSERT_LE(passes.rows.chunk_count(), 35U);
    if (tokens > 16) {
      ASSERT_LE(passes.rows.length, before + passes.rows.chunk());
      ASSERT_LE(passes.rows.length - tokens, std::max<std::size_t>(tokens / 12, 15)) << "filler";
    }
    before = passes.rows.length;
  }
}

TEST(Passes, a_pass_length_makes_rows_longer_and_queries_as_long) {
  struct Case {
    std::size_t tokens, pass_length, rows, chunk, queries;
  };
  for (const auto& [tokens, pass_length, rows, chunk, queries] : std::vector<Case>{{7, 1, 8, 8, 1},
                                                                                   {7, 8, 8, 8, 8},
                                                                                   {7, 128, 8, 8, 8},
                                                                                   {17, 1, 24, 8, 1},
                                                                                   {17, 8, 24, 8, 8},
                                                                                   {17, 16, 32, 16, 16},
                                                                                   {17, 128, 32, 32, 32},
                                                                                   {129, 1, 136, 8, 1},
                                                                                   {129, 8, 136, 8, 8},
                                                                                   {129, 16, 144, 16, 16},
                                                                                   {129, 32, 160, 32, 32},
                                                                                   {129, 128, 256, 128, 128},
                                                                                   {385, 8, 400, 16, 8},
                                                                                   {401, 8, 416, 32, 8},
                                                                                   {385, 128, 512, 128, 128},
                                                                                   {3072, 1, 3072, 128, 1}}) {
    SCOPED_TRACE(std::to_string(tokens) + ", " + std::to_string(pass_length));
    const Passes passes = Passes::of({.prompt = tokens - 1, .generated = 1, .pass_length = pass_length});
    EXPECT_EQ(passes.rows.length, rows);
    EXPECT_EQ(passes.rows.chunk(), chunk);
    EXPECT_EQ(passes.queries.length, rows);
    EXPECT_EQ(passes.queries.chunk(), queries);
    EXPECT_EQ(passes.keys, passes.rows) << "of a beginning";
  }
}

/// As src/spec/protocol.md says: of 32 points q columns, no more pieces than that takes.
TEST(Passes, a_witness_has_points_by_its_size) {
  constexpr unsigned log_chunk = 12;
  for (const auto& [used, q] : std::vector<std::pair<std::size_t, std::size_t>>{{1U << 20, 12},
                                                                                {1U << 21, 12},
                                                                                {(1U << 21) + (1U << 19), 15},
                                                                                {3U << 20, 18},
                                                                                {(1U << 22) - (1U << 12), 23},
                                                                                {1U << 22, 24},
                                                                                {1U << 24, 24},
                                                                                {5U << 22, 25},
                                                                                {3U << 23, 27},
                                                                                {1U << 25, 28},
                                                                                {(1U << 25) + (1U << 12), 27},
                                                                                {9U << 22, 27},
                                                                                {(9U << 22) + (1U << 12), 28},
                                                                                {5U << 23, 28},
                                                                                {(5U << 23) + (1U << 12), 27},
                                                                                {1U << 26, 28},
                                                                                {(1U << 26) + (1U << 12), 28},
                                                                                {5U << 24, 29},
                                                                                {3U << 25, 30},
                                                                                {1U << 27, 30}}) {
    SCOPED_TRACE(used);
    const PackedOracle packed =
        pack_witness({Shape({Dimension::outer(used >> log_chunk), Dimension::whole(std::size_t{1} << log_chunk)})});
    const std::size_t columns = packed.layout.columns(packed.parameters);
    const WordDomain domain = packed.layout.domain(packed.parameters);
    const std::size_t piece = std::size_t{1} << domain.log_piece();
    EXPECT_TRUE(domain.valid());
    EXPECT_LE(64 * columns, q * domain.points());
    EXPECT_GT(64 * columns, q * (domain.points() - piece));
  }
}

TEST(Passes, a_witness_has_rows_by_its_size) {
  constexpr unsigned log_chunk = 12;
  constexpr std::size_t more = 1U << log_chunk;
  for (const auto& [size, rows] : std::vector<std::pair<std::size_t, std::size_t>>{{1U << 12, 16},
                                                                                   {1U << 19, 16},
                                                                                   {(1U << 19) + more, 24},
                                                                                   {3U << 18, 24},
                                                                                   {(3U << 18) + more, 32},
                                                                                   {1U << 25, 32},
                                                                                   {(1U << 25) + more, 40},
                                                                                   {5U << 23, 40},
                                                                                   {(5U << 23) + more, 48},
                                                                                   {1U << 26, 64},
                                                                                   {1U << 30, 64},
                                                                                   {(1U << 30) + more, 72},
                                                                                   {1U << 31, 128},
                                                                                   {std::size_t{1} << 32, 128}}) {
    SCOPED_TRACE(size);
    const PackedOracle packed = pack_witness({Shape({Dimension::outer(size >> log_chunk), Dimension::whole(more)})});
    EXPECT_EQ(packed.parameters.rows(), rows);
    EXPECT_EQ(packed.layout.used(), size);
    EXPECT_LE(packed.layout.columns(packed.parameters), (size + rows - 1) / rows + more / 8);
  }
}

/// A hiding proof's witness has all its rows, and of 32 points 12 columns whatever its size.
TEST(Passes, a_hidden_witness_has_points_by_its_columns) {
  constexpr unsigned log_chunk = 12;
  for (const unsigned log_rows : {4U, 5U, 6U}) {
    for (const std::size_t used : {1U << 20, 3U << 20, (1U << 24) + (1U << 12), 5U << 24, 1U << 27}) {
      SCOPED_TRACE(used);
      const PackedOracle packed = pack_hiding_witness(
          {Shape({Dimension::outer(used >> log_chunk), Dimension::whole(std::size_t{1} << log_chunk)})}, log_rows);
      EXPECT_EQ(packed.parameters.rows(), std::size_t{1} << log_rows);
      const std::size_t columns = packed.layout.columns(packed.parameters);
      EXPECT_EQ(columns, used >> log_rows);
      const WordDomain domain = packed.layout.domain(packed.parameters);
      EXPECT_TRUE(domain.valid());
      EXPECT_LE(32 * columns, 12 * domain.points());
      EXPECT_GT(32 * columns, 12 * (domain.points() - (std::size_t{1} << domain.log_piece())));
    }
  }
}

/// Keys before the first row are cut with the rows, in chunks by the number of both, no shorter than the rows'.
TEST(Passes, keys_of_a_continuation) {
  struct Case {
    std::size_t past, tokens, pass_length, rows, chunk, keys, key_chunk;
  };
  for (const auto& [past, tokens, pass_length, rows, chunk, keys, key_chunk] :
       std::vector<Case>{{12, 8, 0, 8, 8, 20, 8},
                         {12, 1, 0, 1, 1, 13, 16},
                         {1, 17, 0, 24, 8, 25, 8},
                         {376, 8, 0, 8, 8, 384, 16},
                         {377, 8, 0, 8, 8, 385, 16},
                         {394, 8, 0, 8, 8, 402, 32},
                         {1000, 33, 0, 40, 8, 1040, 32},
                         {1100, 33, 0, 40, 8, 1140, 64},
                         {1000, 600, 0, 608, 32, 1608, 64},
                         {1130, 600, 0, 608, 32, 1738, 128},
                         {12, 33, 1, 40, 8, 52, 16},
                         {12, 33, 8, 40, 8, 52, 16},
                         {12, 33, 128, 64, 64, 76, 128},
                         {377, 8, 1, 8, 8, 385, 16}}) {
    SCOPED_TRACE(std::to_string(past) + ", " + std::to_string(tokens) + ", " + std::to_string(pass_length));
    const PassShape pass{.prompt = tokens - 1, .generated = 1, .past = past, .pass_length = pass_length};
    const Passes passes = Passes::of(pass);
    EXPECT_EQ(passes.rows.length, rows);
    EXPECT_EQ(passes.rows.chunk(), chunk);
    EXPECT_EQ(passes.keys.length, keys);
    EXPECT_EQ(passes.keys.chunk(), key_chunk);
    EXPECT_GE(passes.keys.chunk(), passes.queries.chunk());
  }
}

}  // namespace
}  // namespace tessera::test
