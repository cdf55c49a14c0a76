#pragma once

#include <map>
#include "words/oracle.hpp"

namespace tessera {

/// Throws std::invalid_argument unless the claim's factors match its tensor's dimensions.
void require_claim_fits(const OracleLayout& layout, const LinearForm& claim);

/// The factor with its lowest `low.size()` variables bound to `low`: a table over the remaining high variables.
std::vector<E> bind_low(const Factor& factor, std::span<const E> low);

/// How many of each dimension's low bits lie among the low `bits` bits of a chunk's inner index (at most inner_bits()).
std::vector<unsigned> low_bits_of_dimensions(const Shape& shape, unsigned bits);

/// The low variables of a padded chunk at a point of the oracle's index: the padding variables' weight, which is
/// prod (1 - z), and one point for the low bits of each dimension.
struct ChunkPoint {
  E padding = E::one();
  std::vector<Point> low;
};
/// `point`: the lowest variables of the oracle's index, most significant first; at least inner_bits() of them, or fewer
/// when a chunk is larger (the low bits that they cover).
ChunkPoint split_chunk_point(const Shape& shape, std::span<const E> point);

/// A point of all row variables as a band of rows sees it: beta of the variables that number the band, and the point
/// of those that number rows in it.
struct BandPoint {
  E scale;
  std::span<const E> rows;
};
BandPoint band_point(const RowBand& band, std::span<const E> row_point);

/// The multilinear extension of claims' weights, spread over an oracle's cells by its layout, at one point.
class WeightEvaluator {
 public:
  /// Keeps a reference to `layout`. `vector`: a point of the vector that the oracle is a segment of once its rows are
  /// bound, from `first` on, a multiple of the most columns that a chunk has; `rows`: of the row variables.
  WeightEvaluator(const OracleLayout& layout, const OracleParameters& parameters, Point vector, Point rows,
                  std::uint64_t first = 0)
      : layout_(layout), parameters_(parameters), vector_(std::move(vector)), rows_(std::move(rows)), first_(first) {}
  /// O(chunks of the tensor + entries of the heads).
  E evaluate(const LinearForm& claim);

 private:
  /// Chunks one behind the other of which only the last cut dimension's coordinates differ, and ascend by one.
  struct Run {
    std::size_t chunk = 0;  // the first one
    std::size_t count = 0;
    std::uint64_t place = 0;  // of the first one in its band, in chunks
  };
  /// A tensor's chunks in one band of rows.
  struct Part {
    std::vector<Run> runs;
    /// beta(high bits of the point, place) = upper[place / |lower|] * lower[place mod |lower|].
    std::vector<E> upper, lower;
    std::uint64_t first_place = 0;
    ChunkPoint chunk;
    /// The sum over the run's chunks of beta times `weights`.
    [[nodiscard]] E weigh(const Run& run, const E* weights) const;
  };
  const std::vector<Part>& parts(std::size_t tensor);
  /// What the point is for the tensor's chunks in a band.
  void place(std::size_t tensor, std::size_t band, Part& part) const;
  void find_runs(std::size_t tensor, std::vector<Part>& of_bands) const;
  [[nodiscard]] static E evaluate(const Shape& shape, const Part& part, const LinearForm& claim);

  const OracleLayout& layout_;
  OracleParameters parameters_;
  Point vector_, rows_;
  std::uint64_t first_;
  std::map<std::size_t, std::vector<Part>> tensors_;
};

}  // namespace tessera
