#pragma once

#include <map>
#include "commitment/oracle.hpp"

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

/// The multilinear extension of claims' weights, spread over the oracle by its layout, at one point of an index space
/// that the oracle lies in.
class WeightEvaluator {
 public:
  /// Keeps a reference to `layout`. `point`: at least layout.log_size() coordinates; `first`: the oracle's first index
  /// there, a multiple of its largest chunk.
  WeightEvaluator(const OracleLayout& layout, Point point, std::uint64_t first = 0)
      : layout_(layout), point_(std::move(point)), first_(first) {}
  /// O(chunks of the tensor + entries of the heads).
  E evaluate(const LinearForm& claim);

 private:
  struct Tensor {
    std::vector<E> selectors;  ///< beta(high bits of the point, place of chunk i)
    ChunkPoint chunk;
  };
  const Tensor& tensor(std::size_t number);

  const OracleLayout& layout_;
  Point point_;
  std::uint64_t first_;
  std::map<std::size_t, Tensor> tensors_;
};

}  // namespace tessera
