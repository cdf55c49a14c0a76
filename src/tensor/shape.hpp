#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bits.hpp"
#include "base/range.hpp"

namespace tessera {

/// One dimension of a tensor: `length` entries cut into chunks of 2^log_chunk. The chunk number is the outer index,
/// the place inside a chunk the inner index. The last chunk may be partly padding (zeros), absent chunks are zero.
///
/// A prover of several ranks divides dimensions further: what is a chunk of the protocol is 2^log_parts chunks for it,
/// which are all present.
struct Dimension {
  std::size_t length = 1;
  unsigned log_chunk = 0;
  std::string_view symbol = {};  // its name on pages: no part of what it is
  unsigned log_parts = 0;

  [[nodiscard]] std::size_t chunk() const { return std::size_t{1} << log_chunk; }
  [[nodiscard]] std::size_t chunk_count() const {
    const unsigned log_whole = log_chunk + log_parts;
    return ((length + (std::size_t{1} << log_whole) - 1) >> log_whole) << log_parts;
  }
  [[nodiscard]] unsigned outer_bits() const { return ceil_log2(chunk_count()); }
  [[nodiscard]] unsigned bits() const { return outer_bits() + log_chunk; }
  friend bool operator==(const Dimension& a, const Dimension& b) {
    return a.length == b.length && a.log_chunk == b.log_chunk && a.log_parts == b.log_parts;
  }
  /// This dimension under a name, which a proof's tables print.
  [[nodiscard]] Dimension named(std::string_view name) const { return {length, log_chunk, name, log_parts}; }
  /// Cut into chunks of 2^log_least entries at least, until `ranks` can have parts that differ by little.
  [[nodiscard]] Dimension divided(unsigned log_least, int ranks) const;
  /// The dimension as the protocol has it: chunks are those before divided().
  [[nodiscard]] Dimension undivided() const { return {length, log_chunk + log_parts, symbol}; }
  /// Entries with those that fill the last chunk.
  [[nodiscard]] std::size_t filled() const { return chunk_count() << log_chunk; }

  /// The whole length in one chunk of ceil-log2 size.
  static Dimension whole(std::size_t length);
  /// `length` chunks of one entry (blocks, heads).
  static Dimension outer(std::size_t length);
  /// The largest chunk that wastes at most 1/16 of the length; one padded chunk below 64.
  static Dimension tiled(std::size_t length);
  /// Chunks of 2^log_chunk entries, or one of ceil-log2 size if that is less.
  static Dimension cut(std::size_t length, unsigned log_chunk);
};

/// Which chunks of a tensor exist.
enum class Presence : std::uint8_t {
  all,  ///< every chunk with all outer indices below their chunk_count
  /// Additionally: of the last two dimensions, queries and keys, a tile of keys only for a tile of queries whose last
  /// one sees the first of them. Queries are whole tiles, and there are Shape::past() more keys, which come first:
  /// query i sees the keys up to past + i; where the first dimension's index has a window w (Shape::window()), only the
  /// last w of them, and a tile of keys of which the first query of a tile sees none is absent, too.
  causal,
};

/// A tensor's shape: dimensions, first most significant, and which chunks are present.
///
/// *Flat order* of the variables of its multilinear extension, most significant first: the outer bits of every
/// dimension in order, then the inner bits of every dimension in order. Values are stored chunk after chunk
/// (lexicographic in the outer indices), inner indices row-major. Sum-checks bind the flat order from its end: inner
/// variables first. Of a divided dimension the variables that say which part of a chunk stand behind all outer ones, so
/// that the flat order does not depend on how many ranks share a tensor.
class Shape {
 public:
  Shape() = default;
  /// `windows`: where causal, of each index of the first dimension, whose chunks have one entry; 0: none. Empty: none.
  explicit Shape(std::vector<Dimension> dimensions, Presence presence = Presence::all,
                 std::vector<std::uint32_t> windows = {});

  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] Presence presence() const { return presence_; }
  /// Causal: keys before the first query's.
  [[nodiscard]] std::size_t past() const { return dimensions_.back().length - dimensions_.end()[-2].length; }
  [[nodiscard]] std::span<const std::uint32_t> windows() const {
    return windows_ == nullptr ? std::span<const std::uint32_t>() : std::span(*windows_);
  }
  [[nodiscard]] std::size_t window(std::size_t index) const { return windows_ == nullptr ? 0 : (*windows_)[index]; }
  /// Causal: the first key that a query sees.
  [[nodiscard]] std::size_t first_key(std::size_t index, std::size_t query) const {
    const std::size_t keys = past() + query + 1;
    const std::size_t some = window(index);
    return some > 0 && keys > some ? keys - some : 0;
  }
  /// Causal: the number of key tiles up to the last query's key of a query tile.
  [[nodiscard]] std::size_t key_tiles(std::size_t query_tile) const {
    return ((past() + ((query_tile + 1) << dimensions_.end()[-2].log_chunk) - 1) >> dimensions_.back().log_chunk) + 1;
  }
  [[nodiscard]] unsigned outer_bits() const { return outer_bits_; }
  [[nodiscard]] unsigned inner_bits() const { return inner_bits_; }
  [[nodiscard]] unsigned bits() const { return outer_bits_ + inner_bits_; }
  /// Values in one chunk: 2^inner_bits.
  [[nodiscard]] std::size_t chunk_size() const { return std::size_t{1} << inner_bits_; }
  /// Number of present chunks.
  [[nodiscard]] std::size_t chunk_count() const { return outer_index_ == nullptr ? 0 : outer_index_->size(); }
  /// Places of the present chunks in the padded outer cube (concatenated outer bits), ascending.
  [[nodiscard]] std::span<const std::size_t> outer_indices() const {
    return outer_index_ == nullptr ? std::span<const std::size_t>() : std::span(*outer_index_);
  }
  [[nodiscard]] std::size_t outer_index(std::size_t chunk) const { return (*outer_index_)[chunk]; }  // of one
  /// Chunk number in dimension `dimension` of a place in the padded outer cube.
  [[nodiscard]] std::size_t outer_coordinate(std::size_t outer_index, std::size_t dimension) const {
    const Place& place = places_[dimension];
    return ((outer_index >> place.shift & place.mask) << place.log_parts) |
           (outer_index >> place.part & place.part_mask);
  }
  /// Place in the padded outer cube of these chunk numbers.
  [[nodiscard]] std::size_t outer_place(std::span<const std::size_t> coordinates) const;
  /// Chunk number of present chunk `chunk` in dimension `dimension`.
  [[nodiscard]] std::size_t coordinate(std::size_t chunk, std::size_t dimension) const {
    return outer_coordinate((*outer_index_)[chunk], dimension);
  }
  /// Whether present chunk `chunk`, not the first one, and the one before differ in the last dimension's number alone,
  /// by one.
  [[nodiscard]] bool goes_on(std::size_t chunk) const;
  /// The present chunk with these chunk numbers; throws std::out_of_range if it is absent.
  [[nodiscard]] std::size_t chunk_at(std::span<const std::size_t> coordinates) const;
  /// The present chunks that have a chunk's numbers in the first `dimensions` dimensions, which are not divided.
  [[nodiscard]] Range chunks_beside(std::size_t chunk, std::size_t dimensions) const;
  /// The shape as the protocol has it. At most one dimension is divided, and those before it have chunks of one entry,
  /// so that parts of a chunk are consecutive values of it.
  [[nodiscard]] Shape undivided() const;
  [[nodiscard]] bool is_divided() const;
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.dimensions_ == b.dimensions_ && a.presence_ == b.presence_ && std::ranges::equal(a.windows(), b.windows());
  }

 private:
  /// Where a dimension's chunk number stands in an outer index.
  struct Place {
    std::size_t mask = 0, part_mask = 0;
    unsigned shift = 0, part = 0, log_parts = 0;
  };

  /// The place of each combination of chunk numbers but the last dimension's (there 0), and which of them are present.
  void each_row(const std::function<void(std::size_t, Range)>& visit) const;
  /// Causal: the tiles of keys that are there for one of queries.
  [[nodiscard]] Range tiles_of(std::size_t index, std::size_t query_tile) const;

  std::vector<Dimension> dimensions_;
  std::vector<Place> places_;
  Presence presence_ = Presence::all;
  std::shared_ptr<const std::vector<std::uint32_t>> windows_;  // none: no window
  unsigned outer_bits_ = 0;
  unsigned inner_bits_ = 0;
  std::shared_ptr<const std::vector<std::size_t>> outer_index_;  // of the present chunks, ascending; copies share it
};

}  // namespace tessera
