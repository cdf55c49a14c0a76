#pragma once

#include "field/extension.hpp"
#include "tensor/shape.hpp"

namespace tessera {

/// Coordinates of a point, most significant variable first.
using Point = std::vector<E>;
/// One point per dimension of a tensor.
using TensorPoint = std::vector<Point>;

/// beta(a, b) = prod_i (a_i*b_i + (1-a_i)*(1-b_i)); sizes must agree.
E eq(std::span<const E> a, std::span<const E> b);
/// beta(point, index) for the boolean vector of `index`, most significant bit first.
E eq_index(std::span<const E> point, std::uint64_t index);
/// beta(point, index) of many indices: the product of two entries of tables, each of about the square root of 2^n.
class EqIndices {
 public:
  explicit EqIndices(std::span<const E> point);
  [[nodiscard]] E operator()(std::uint64_t index) const { return high_[index >> log_low_] * low_[index & mask_]; }

 private:
  std::size_t log_low_;
  std::uint64_t mask_;
  std::vector<E> high_, low_;
};
/// All beta(point, x), x = 0 .. 2^n - 1, times `scale`.
std::vector<E> eq_table(std::span<const E> point, E scale = E::one());
/// sum_{x < bound} beta(point, x); 0 <= bound <= 2^n. O(n).
E less_than(std::span<const E> point, std::size_t bound);
/// sum_{x <= y + shift, y < bound} beta(a, x) * beta(b, y): the multilinear extension of [x <= y + shift, y < bound].
/// O(n).
E less_or_equal(std::span<const E> a, std::span<const E> b, std::size_t shift = 0, std::size_t bound = SIZE_MAX);
/// sum_{x + gap <= y, y < bound} beta(a, x) * beta(b, y): the multilinear extension of [x + gap <= y, y < bound]. O(n).
E less_by(std::span<const E> a, std::span<const E> b, std::size_t gap, std::size_t bound = SIZE_MAX);
/// The multilinear extension of [x + left <= y + right, y < bound]. O(n).
E less_or_equal_shifted(std::span<const E> a, std::span<const E> b, std::size_t left, std::size_t right,
                        std::size_t bound = SIZE_MAX);
/// The multilinear extension of `values` (length 2^n) at `point` (n coordinates).
E evaluate(std::span<const E> values, std::span<const E> point);
/// The multilinear extension of x -> x (integers 0 .. 2^n - 1) at `point`.
E evaluate_identity(std::span<const E> point);

/// The line through `low` at 0 and `high` at 1.
inline E on_line(E low, E high, E at) { return low + at * (high - low); }
/// 1, base, base^2, ... (count >= 1 values).
std::vector<E> powers(E base, std::size_t count);
/// All left[i]*right[j], the last index fastest.
std::vector<E> outer_product(std::span<const E> left, std::span<const E> right);

/// The flat order's point as one point per dimension, and back.
TensorPoint to_tensor_point(const Shape& shape, std::span<const E> flat);
Point to_flat_point(const Shape& shape, const TensorPoint& point);
/// Pres(point): the multilinear extension of the indicator of the present chunks.
E presence_at(const Shape& shape, const TensorPoint& point);
/// What one dimension contributes to it: sum over its chunks, at a point of the dimension.
E presence_along(const Dimension& dimension, const Point& point);
/// Splits the coordinates of a natural index over `dimensions`, each whole, into one point a dimension.
TensorPoint deal(std::span<const Dimension> dimensions, std::span<const E> coordinates);
/// The joined coordinates of a point's dimensions first .. last-1: a natural index over them.
Point joined(const TensorPoint& point, std::size_t first, std::size_t last);

}  // namespace tessera
