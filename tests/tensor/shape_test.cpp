#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "random_values.hpp"

namespace tessera::test {
namespace {

TEST(Dimension, ceil_log2_is_the_least_sufficient_exponent) {
  for (std::size_t n = 1; n <= 5000; ++n) {
    unsigned bits = 0;
    while ((std::size_t{1} << bits) < n) {
      ++bits;
    }
    ASSERT_EQ(ceil_log2(n), bits) << n;
  }
  EXPECT_EQ(ceil_log2(std::size_t{1} << 40), 40U);
  EXPECT_EQ(ceil_log2((std::size_t{1} << 40) + 1), 41U);
}

TEST(Dimension, tiled_is_the_largest_chunk_that_wastes_at_most_a_sixteenth) {
  const auto waste = [](std::size_t length, unsigned log_chunk) {
    const std::size_t chunk = std::size_t{1} << log_chunk;
    return (length + chunk - 1) / chunk * chunk - length;
  };
  for (std::size_t length = 1; length <= 5000; ++length) {
    const Dimension dimension = Dimension::tiled(length);
    ASSERT_EQ(dimension.length, length);
    if (length < 64) {
      ASSERT_EQ(dimension, Dimension::whole(length));
      ASSERT_EQ(dimension.chunk_count(), 1U);
      continue;
    }
    ASSERT_LE(16 * waste(length, dimension.log_chunk), length) << length;
    for (unsigned larger = dimension.log_chunk + 1; larger <= ceil_log2(length); ++larger) {
      ASSERT_GT(16 * waste(length, larger), length) << length;
    }
  }
}

struct TilingCase {
  std::size_t length, chunks, chunk;
};

TEST(Dimension, tilings_of_model_sizes) {
  for (const auto& [length, chunks, chunk] : std::vector<TilingCase>{{1, 1, 1},
                                                                     {12, 1, 16},
                                                                     {36, 1, 64},
                                                                     {63, 1, 64},
                                                                     {64, 1, 64},
                                                                     {96, 3, 32},
                                                                     {128, 1, 128},
                                                                     {144, 9, 16},
                                                                     {300, 19, 16},
                                                                     {768, 3, 256},
                                                                     {1024, 1, 1024},
                                                                     {3072, 3, 1024},
                                                                     {50257, 13, 4096}}) {
    const Dimension dimension = Dimension::tiled(length);
    EXPECT_EQ(dimension.chunk_count(), chunks) << length;
    EXPECT_EQ(dimension.chunk(), chunk) << length;
  }
  EXPECT_EQ(Dimension::outer(12), (Dimension{12, 0}));
  EXPECT_EQ(Dimension::outer(12).bits(), 4U);
  EXPECT_EQ(Dimension::whole(36).bits(), 6U);
  EXPECT_EQ(Dimension::tiled(768).bits(), 10U);
}

TEST(Shape, chunks_and_flat_order_by_definition) {
  for (const Shape& shape : shapes_of_all_kinds()) {
    const auto& dimensions = shape.dimensions();
    std::size_t present = 0;
    std::size_t previous = 0;
    for (const Entry& entry : all_entries(shape)) {
      std::vector<std::size_t> coordinates;
      for (std::size_t j = 0; j < dimensions.size(); ++j) {
        coordinates.push_back(entry.index[j] / dimensions[j].chunk());
      }
      if (!entry.present) {
        EXPECT_THROW((void)shape.chunk_at(coordinates), std::out_of_range);
        continue;
      }
      ++present;
      ASSERT_EQ(shape.chunk_at(coordinates), entry.chunk);
      ASSERT_EQ((shape.outer_index(entry.chunk) << shape.inner_bits()) + entry.place, entry.flat);
      for (std::size_t j = 0; j < dimensions.size(); ++j) {
        ASSERT_EQ(shape.coordinate(entry.chunk, j), coordinates[j]);
      }
    }
    EXPECT_EQ(present, shape.chunk_count() * shape.chunk_size());
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      EXPECT_TRUE(chunk == 0 || shape.outer_index(chunk) > previous);
      previous = shape.outer_index(chunk);
    }
  }
}

TEST(Dimension, parts_are_even_or_as_short_as_they_may_be) {
  for (const std::size_t length : {1, 40, 64, 100, 768, 1500, 4096, 50257}) {
    const Dimension whole = Dimension::tiled(length).named("F");
    EXPECT_EQ(whole.divided(0, 1), whole);
    for (const int ranks : {2, 3, 4, 5, 7, 16, 64}) {
      for (const unsigned log_least : {0, 2, 5, 20}) {
        SCOPED_TRACE(std::to_string(length) + " on " + std::to_string(ranks) + ", " + std::to_string(log_least));
        const Dimension parts = whole.divided(log_least, ranks);
        EXPECT_EQ(parts.undivided(), whole);
        EXPECT_EQ(parts.symbol, "F");
        EXPECT_EQ(parts.bits(), whole.bits());
        EXPECT_EQ(parts.chunk_count() << parts.log_chunk, whole.chunk_count() << whole.log_chunk);
        EXPECT_TRUE(parts.log_parts == 0 || parts.log_chunk >= log_least);
        const std::size_t largest =
            (parts.chunk_count() + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks);
        const bool even = largest * static_cast<std::size_t>(ranks) * 16 <= parts.chunk_count() * 17;
        EXPECT_TRUE(even || parts.log_chunk <= log_least);
        std::size_t next = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const Range rows = owned_rows(parts, rank, ranks);
          EXPECT_EQ(rows.first, next);
          next = rows.last;
        }
        EXPECT_EQ(next, length);
      }
    }
  }
}

/// Where the dimensions before the divided one have chunks of one entry and those after it one chunk.
TEST(Shape, parts_have_the_places_of_their_chunks) {
  for (const Shape& whole :
       {Shape({Dimension::outer(3), Dimension::tiled(96), Dimension::whole(4)}),
        Shape({Dimension::tiled(40), Dimension::whole(5)}),
        Shape({Dimension::outer(2), Dimension::outer(3), Dimension{100, 4}, Dimension::whole(8)})}) {
    EXPECT_FALSE(whole.is_divided());
    std::vector<Dimension> dimensions = whole.dimensions();
    Dimension& divided = dimensions[dimensions.size() - 2];
    divided = divided.divided(1, 5);
    const Shape shape(dimensions);
    ASSERT_TRUE(shape.is_divided());
    EXPECT_EQ(shape.undivided(), whole);
    EXPECT_FALSE(shape == whole);
    EXPECT_EQ(shape.bits(), whole.bits());
    const unsigned log_parts = divided.log_parts;
    ASSERT_EQ(shape.chunk_count(), whole.chunk_count() << log_parts);  // padding too
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      const std::size_t part = chunk & ((std::size_t{1} << log_parts) - 1);
      EXPECT_EQ(shape.outer_index(chunk), (whole.outer_index(chunk >> log_parts) << log_parts) + part);
    }
  }
}

/// Whatever stands behind the divided dimension.
TEST(Shape, the_flat_order_of_divided_shapes_is_that_of_whole_ones) {
  for (const Shape& whole : divisible_shapes()) {
    for (const int ranks : {2, 5, 64}) {
      const Shape parts = divided(whole, ranks);
      ASSERT_TRUE(parts.is_divided());
      EXPECT_EQ(parts.undivided(), whole);
      ASSERT_EQ(parts.bits(), whole.bits());
      ASSERT_EQ(parts.chunk_count() * parts.chunk_size(), whole.chunk_count() * whole.chunk_size());
      for (std::size_t chunk = 1; chunk < parts.chunk_count(); ++chunk) {
        ASSERT_LT(parts.outer_index(chunk - 1), parts.outer_index(chunk));
      }
      const auto& dimensions = parts.dimensions();
      for (const Entry& entry : all_entries(whole)) {
        std::vector<std::size_t> coordinates;
        std::size_t place = 0;
        for (std::size_t j = 0; j < dimensions.size(); ++j) {
          coordinates.push_back(entry.index[j] / dimensions[j].chunk());
          place = place * dimensions[j].chunk() + entry.index[j] % dimensions[j].chunk();
        }
        const std::size_t outer = parts.outer_place(coordinates);
        ASSERT_EQ(outer * parts.chunk_size() + place, entry.flat);
        for (std::size_t j = 0; j < dimensions.size(); ++j) {
          ASSERT_EQ(parts.outer_coordinate(outer, j), coordinates[j]);
        }
        if (!entry.present) {
          EXPECT_THROW((void)parts.chunk_at(coordinates), std::out_of_range);
          continue;
        }
        const std::size_t chunk = parts.chunk_at(coordinates);
        ASSERT_EQ(parts.outer_index(chunk), outer);
        ASSERT_EQ(chunk * parts.chunk_size() + place, entry.chunk * whole.chunk_size() + entry.place)
            << "values lie in the same order";
      }
    }
  }
}

TEST(Shape, rows_of_divided_shapes_go_on_in_later_chunks) {
  for (const Shape& whole : {Shape({Dimension::outer(3), Dimension::tiled(96), Dimension{48, 4}}),
                             Shape({Dimension::outer(2), Dimension{100, 4}, Dimension::cut(33, 3)})}) {
    for (const int ranks : {1, 2, 5, 64}) {
      const Shape parts = divided(whole, ranks);
      const auto& dimensions = parts.dimensions();
      for (const Entry& entry : all_entries(whole)) {
        if (!entry.present || entry.index[1] >= dimensions[1].length) {
          continue;
        }
        const RowPlace place = row_place(parts, entry.index[0], entry.index[1]);
        const std::size_t chunk = place.chunk + (entry.index[2] >> dimensions[2].log_chunk) * place.step;
        const std::size_t at = place.row * dimensions[2].chunk() + entry.index[2] % dimensions[2].chunk();
        ASSERT_EQ(chunk * parts.chunk_size() + at, entry.chunk * whole.chunk_size() + entry.place);
      }
    }
  }
}

TEST(Shape, neighbours_in_the_last_dimension_go_on) {
  const std::vector<Shape> shapes{
      Shape({Dimension::outer(3), Dimension::cut(40, 3)}),
      Shape({Dimension::outer(4), Dimension::outer(1)}),
      Shape({Dimension::cut(20, 2)}),
      Shape({Dimension::outer(2), Dimension::cut(24, 3), Dimension::cut(40, 3)}, Presence::causal),
      Shape({Dimension::outer(2), Dimension::whole(64).divided(3, 4), Dimension::cut(24, 3)}),
      Shape({Dimension::outer(2), Dimension::whole(64).divided(3, 4), Dimension::outer(1)}),
      Shape({Dimension::outer(3), Dimension::whole(64).divided(3, 4)}),
  };
  EXPECT_TRUE(shapes[4].is_divided() && shapes[6].is_divided());
  for (const Shape& shape : shapes) {
    const std::size_t last = shape.dimensions().size() - 1;
    for (std::size_t chunk = 1; chunk < shape.chunk_count(); ++chunk) {
      bool expected = shape.coordinate(chunk, last) == shape.coordinate(chunk - 1, last) + 1;
      for (std::size_t j = 0; j < last; ++j) {
        expected = expected && shape.coordinate(chunk, j) == shape.coordinate(chunk - 1, j);
      }
      EXPECT_EQ(shape.goes_on(chunk), expected) << chunk;
    }
  }
}

TEST(Shape, causal_shapes_hold_the_lower_triangle_of_tiles) {
  const Shape shape({Dimension::outer(3), Dimension{512, 7}, Dimension{512, 7}}, Presence::causal);
  EXPECT_EQ(shape.chunk_count(), 3U * 10U);
  EXPECT_EQ(shape.bits(), 2U + 9U + 9U);
  EXPECT_EQ(shape.outer_bits(), 6U);
  EXPECT_NO_THROW((void)shape.chunk_at(std::array<std::size_t, 3>{2, 3, 3}));
  EXPECT_THROW((void)shape.chunk_at(std::array<std::size_t, 3>{2, 2, 3}), std::out_of_range);
}

TEST(Shape, equality_includes_presence) {
  const std::vector<Dimension> square{{16, 2}, {16, 2}};
  EXPECT_FALSE(Shape(square) == Shape(square, Presence::causal));
  EXPECT_TRUE(Shape(square) == Shape(square));
  EXPECT_FALSE(Shape(square) == Shape({{16, 2}, {16, 3}}));
}

TEST(Ownership, contiguous_ranges_as_equal_as_possible) {
  for (std::size_t count = 1; count <= 40; ++count) {
    for (int ranks = 1; ranks <= 12; ++ranks) {
      std::vector<std::size_t> owned(static_cast<std::size_t>(ranks));
      int previous = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const int owner = contiguous_owner(i, count, ranks);
        ASSERT_TRUE(previous <= owner && owner < ranks);
        previous = owner;
        ++owned[static_cast<std::size_t>(owner)];
      }
      const auto [least, most] = std::minmax_element(owned.begin(), owned.end());
      ASSERT_LE(*most - *least, 1U) << count << " among " << ranks;
    }
  }
}

TEST(Ownership, tiles_of_a_block_are_dealt_out_together) {
  // 3 heads of 10 present tiles each
  const Shape scores(
      {Dimension::outer(2), Dimension::outer(3), Dimension::outer(1), Dimension{16, 2}, Dimension{16, 2}},
      Presence::causal);
  const Ownership tiles{1, Deal::tiles};
  EXPECT_EQ(tiles.parts(scores), 30U);
  EXPECT_EQ(Ownership{1}.parts(scores), 3U);
  for (const int ranks : {1, 2, 3, 5, 7, 30, 64}) {
    std::vector<std::size_t> owned(static_cast<std::size_t>(ranks));
    for (std::size_t chunk = 0; chunk < scores.chunk_count(); ++chunk) {
      const int owner = tiles.owner(scores, chunk, ranks);
      EXPECT_EQ(owner, contiguous_owner(chunk % 30, 30, ranks));
      ++owned[static_cast<std::size_t>(owner)];
      const std::vector<std::size_t> mine = owned_chunks(scores, tiles, owner, ranks);
      EXPECT_TRUE(std::ranges::binary_search(mine, chunk));
    }
    const auto [least, most] = std::ranges::minmax(owned);
    EXPECT_LE(most - least, 2U) << ranks;  // one a block
  }
  // where heads come out even, tiles lie with their heads
  for (const int ranks : {1, 3}) {
    for (std::size_t chunk = 0; chunk < scores.chunk_count(); ++chunk) {
      EXPECT_EQ(tiles.owner(scores, chunk, ranks), Ownership{1}.owner(scores, chunk, ranks));
    }
  }
}

/// Each block's tiles are dealt out by themselves, whatever others have.
TEST(Ownership, tiles_of_blocks_with_windows_are_dealt_out_block_by_block) {
  const Shape scores(
      {Dimension::outer(3), Dimension::outer(3), Dimension::outer(2), Dimension{16, 2}, Dimension{16, 2}},
      Presence::causal, {1, 0, 5});
  const Ownership tiles{1, Deal::tiles};
  const std::vector<std::size_t> counts{6 * 4, 6 * 10, 6 * 7};
  EXPECT_EQ(scores.chunk_count(), 24U + 60U + 42U);
  for (const int ranks : {1, 2, 3, 7, 64}) {
    std::size_t first = 0;
    for (const std::size_t count : counts) {
      for (std::size_t tile = 0; tile < count; ++tile) {
        EXPECT_EQ(tiles.owner(scores, first + tile, ranks), contiguous_owner(tile, count, ranks));
      }
      EXPECT_EQ(scores.chunks_beside(first, 1).first, first);
      EXPECT_EQ(scores.chunks_beside(first + count - 1, 1).last, first + count);
      first += count;
    }
  }
}

/// Of all tiles of all blocks, where nothing stands before the dimension.
TEST(Ownership, tiles_of_the_first_dimension_are_dealt_out_together) {
  const Shape masks({Dimension::outer(3), Dimension{16, 2}, Dimension{16, 2}}, Presence::causal, {1, 0, 5});
  const Ownership tiles{0, Deal::tiles};
  ASSERT_EQ(masks.chunk_count(), 4U + 10U + 7U);
  for (const int ranks : {1, 2, 3, 7, 64}) {
    for (std::size_t tile = 0; tile < masks.chunk_count(); ++tile) {
      EXPECT_EQ(tiles.owner(masks, tile, ranks), contiguous_owner(tile, masks.chunk_count(), ranks));
    }
  }
}

TEST(ChunkedTensor, every_chunk_is_held_by_its_owner_only) {
  const Shape shape({Dimension::outer(2), Dimension::tiled(96), Dimension::whole(4)});
  for (const Ownership ownership : {Ownership{0}, Ownership{1}, Ownership{1, Deal::tiles}, Ownership{1, Deal::all},
                                    Ownership{0, Deal::all}, Ownership{2, Deal::all}, Ownership{}}) {
    for (const int ranks : {1, 2, 3, 4, 7}) {
      std::vector<int> holders(shape.chunk_count());
      for (int rank = 0; rank < ranks; ++rank) {
        const ChunkedTensor<std::int16_t> tensor(shape, ownership, rank, ranks);
        EXPECT_EQ(tensor.values().size(), tensor.held().size() * shape.chunk_size());
        for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
          holders[chunk] += tensor.holds(chunk) ? 1 : 0;
          const bool replicated = ownership.dimension == Ownership::replicated;
          EXPECT_EQ(tensor.holds(chunk), replicated || ownership.owner(shape, chunk, ranks) == rank);
        }
      }
      for (const int count : holders) {
        EXPECT_EQ(count, ownership.dimension == Ownership::replicated ? ranks : 1);
      }
    }
  }
}

TEST(Ownership, all_chunks_of_an_index_are_neighbours) {
  const Shape shape({Dimension::outer(5), Dimension::outer(3), Dimension{4, 1}, Dimension::whole(4)});
  const Ownership ownership{1, Deal::all};
  EXPECT_EQ(ownership.parts(shape), 30U);
  std::vector<std::array<std::size_t, 3>> expected;  // head, block, place
  for (std::size_t head = 0; head < 3; ++head) {
    for (std::size_t block = 0; block < 5; ++block) {
      for (std::size_t place = 0; place < 2; ++place) {
        expected.push_back({head, block, place});
      }
    }
  }
  for (const int ranks : {1, 2, 7, 30, 64}) {
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      const std::array<std::size_t, 3> place{shape.coordinate(chunk, 1), shape.coordinate(chunk, 0),
                                             shape.coordinate(chunk, 2)};
      const auto part = static_cast<std::size_t>(std::ranges::find(expected, place) - expected.begin());
      EXPECT_EQ(ownership.owner(shape, chunk, ranks), contiguous_owner(part, 30, ranks));
    }
  }
}

TEST(Shape, rows_are_numbered_without_padding) {
  for (const Shape& shape : {Shape({Dimension::outer(2), Dimension{6, 2}, Dimension::whole(4)}),
                             Shape({Dimension::outer(2), Dimension::outer(3), Dimension::outer(2), Dimension{2, 1},
                                    Dimension::whole(3), Dimension::whole(4)})}) {
    const std::vector<Dimension>& dimensions = shape.dimensions();
    const std::vector<Entry> entries = all_entries(shape);
    std::vector<std::size_t> rows(2);  // of each block, counted
    for (const Entry& entry : entries) {
      bool padding = false;
      for (std::size_t j = 0; j < dimensions.size(); ++j) {
        padding = padding || entry.index[j] >= dimensions[j].length;
      }
      if (padding || entry.index.back() != 0) {
        continue;
      }
      const RowPlace place = row_place(shape, entry.index[0], rows[entry.index[0]]++);
      EXPECT_EQ(place.chunk, entry.chunk);
      EXPECT_EQ(place.row * 4, entry.place);
    }
    // of the rows that ranks own every one is in a chunk that they hold
    for (const int ranks : {1, 2, 3, 5}) {
      std::size_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const ChunkedTensor<std::int16_t> tensor(shape, Ownership{1}, rank, ranks);
        const Range own = owned_rows(shape, rank, ranks);
        EXPECT_EQ(own.first, next);
        next = own.last;
        for (std::size_t row = own.first; row < own.last; ++row) {
          EXPECT_TRUE(tensor.holds(row_place(shape, 1, row).chunk));
        }
      }
      EXPECT_EQ(next, rows[0]);
    }
  }
}

}  // namespace
}  // namespace tessera::test
