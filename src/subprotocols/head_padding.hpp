#pragma once

#include <bit>

#include "tensor/claim.hpp"

namespace tessera {

/// Heads are h pieces of m features; attention works on m_hat = 2^ceil(log2 m) places a head. Sources: seed
/// multi_head_attention, "Padding" and "Unpadding".
///
/// Padding, Q_hat = Q*P with P[x, j] = 1 iff j = head*m_hat + place, x = head*m + place: a claim on Q_hat at point r is
/// the claim on Q whose weight along the feature dimension is P(., r). Unpadding, O = O_hat*U with U = P^T: a claim on
/// O at r is the claim on O_hat with weight P(r, .). Both weights enter the claim reduction of the tensor, whose
/// sum-check is the seed's batched one; the verifier evaluates them in O(h*m). Where m is a power of two both layouts
/// are the same polynomial and the weight is the point itself.

struct HeadLayout {
  std::size_t heads = 1;  // h
  std::size_t size = 1;   // m
  [[nodiscard]] std::size_t features() const { return heads * size; }
  /// m is a power of two: q, k, v are already in the padded layout.
  [[nodiscard]] bool whole() const { return std::has_single_bit(size); }
  /// Places of a head: m_hat.
  [[nodiscard]] Dimension place() const { return Dimension::whole(size); }
  [[nodiscard]] unsigned head_bits() const { return ceil_log2(heads); }
};

/// Place of a feature in the padded head layout: head*m_hat + place for feature head*m + place.
std::size_t padded_place(const HeadLayout& layout, std::size_t feature);
/// Weight along the feature dimension (2^feature_bits) for a point on (head, place).
Factor padded_to_feature(const HeadLayout& layout, unsigned feature_bits, const Point& head_place);
/// Weight along (head, place) for a point on the feature dimension.
Factor feature_to_padded(const HeadLayout& layout, unsigned padded_bits, const Point& feature);

}  // namespace tessera
