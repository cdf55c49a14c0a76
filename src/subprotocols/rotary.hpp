#pragma once

#include <algorithm>
#include <memory>

#include "plan/context.hpp"

namespace tessera {

/// Rotary positions: element i of the first half of a head and element i of the second one are turned by the angle of
/// (position, i): y_0 = x_0*cos - x_1*sin, y_1 = x_1*cos + x_0*sin (rotate_half of the checkpoints), cos and sin from a
/// table of the key (arithmetic/rotary_table.hpp), exponent 14. Row t is at position past + t; filler behind the last
/// position that the model has is there.
///
/// Statement: Y_k(.., r_h, r_i, r_t) = value_k for rotated tensors of dimensions (.., half of a head R, place I, token
/// T), k = 1..n, each at its own point. The rotation is linear and public, and moves nothing along the other
/// dimensions: Y(.., r_h, r_i, r_t) = sum_{h,i,t} Rot(r; h,i,t)*X(.., h, i, t) with, for i < half,
///   Rot(r; 0,i,t) = beta(r_i,i)*beta(r_t,t)*((1 - r_h)*cos(t,i) + r_h*sin(t,i)),
///   Rot(r; 1,i,t) = beta(r_i,i)*beta(r_t,t)*(r_h*cos(t,i) - (1 - r_h)*sin(t,i)).
///   | # | from | message                                                                                 |
///   | 1 | V    | lambda, if n > 1 (all values are absorbed before)                                       |
///   | 2 | P/V  | sum-check over (R,I,T), natural order, degree 2:                                        |
///   |   |      | sum_k lambda^(k-1)*value_k = sum_{h,i,t} sum_k lambda^(k-1)*Rot(r_k; h,i,t)*X_k(.., h,i,t) |
///   | 3 | P    | X_k(.., z) at its end z: returned; V evaluates Rot(r_k; z) from the table and checks     |
/// Where blocks turn by several tables, the sum is over (B,R,I,T), B the first dimension, and
/// Rot(r; b,h,i,t) = beta(r_b,b)*(Rot of the block's table).
/// Error: (n - 1 + 2*variables)/|E|. Source: none of the seeds has it.
struct Rotary {
  std::shared_ptr<const std::vector<std::int16_t>> tables;  // each all cos, then all sin: (position, i)
  std::size_t positions = 0;                                // that the model has
  std::size_t half = 0;                                     // i: half of a head
  std::size_t past = 0;                                     // position of row 0
  std::vector<std::uint32_t> table_of_block = {};           // empty: all turn by the first

  /// Whether blocks turn by different tables.
  [[nodiscard]] bool by_block() const { return !table_of_block.empty(); }
  [[nodiscard]] std::size_t table_of(std::size_t block) const { return by_block() ? table_of_block[block] : 0; }
  [[nodiscard]] std::size_t position(std::size_t row) const { return std::min(past + row, positions - 1); }
  /// Cosines of a row's angles, by i.
  [[nodiscard]] std::span<const std::int16_t> cos(std::size_t table, std::size_t row) const {
    return std::span(*tables).subspan((2 * table * positions + position(row)) * half, half);
  }
  [[nodiscard]] std::span<const std::int16_t> sin(std::size_t table, std::size_t row) const {
    return std::span(*tables).subspan(((2 * table + 1) * positions + position(row)) * half, half);
  }
};

/// Rot(r; z), both points of (B, .., R, I, T). O(tables*rows*half).
E rotation_at(const Rotary& rotary, const TensorPoint& r, const TensorPoint& z);

/// r with half, place and token, and the block where tables differ by it, as a sum-check left them.
TensorPoint rotation_end(const Rotary& rotary, const TensorPoint& r, std::span<const E> end);

/// Y_k, of which y = rshift(Y_k, S) and the remainder are recorded.
struct RotatedValues {
  RangedIntegers value, remainder;
};

/// `rotated`: claims on Y_k. Returns those on X_k.
template <class S>
std::vector<PointClaimOf<S>> unrotated(VerifierContext<S>& context, const Rotary& rotary,
                                       std::type_identity_t<std::span<const PointClaimOf<S>>> rotated,
                                       std::span<const RotatedValues> values);
std::vector<PointClaim> unrotated(ProverContext& context, const Rotary& rotary, std::span<const PointClaim> rotated,
                                  std::span<const RotatedValues> values);

}  // namespace tessera
