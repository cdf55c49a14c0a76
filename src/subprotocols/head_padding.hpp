#pragma once

#include <bit>

#include "tensor/claim.hpp"

namespace tessera {

/// h heads of keys and values, each with a group of query heads that share it (query head head*group + j reads head
/// `head`), all of m features; attention works on m_hat = 2^ceil(log2 m) places a head. A *head point* is a point of
/// (block, head, group, place, token), for q and y, or of (block, head, place, token), for k and v; with one query head
/// for each head the group has no coordinates. Sources: seed multi_head_attention, "Padding" and "Unpadding".
///
/// Tensors come in two layouts. *Split*: head, group and place are dimensions of their own (the place maybe several),
/// so that places are padded by their dimension and a head point is a point of the tensor, its place coordinates split
/// into those of the place's dimensions. Otherwise (group = 1) features are one dimension:
///
/// Padding, Q_hat = Q*P with P[x, j] = 1 iff j = head*m_hat + place, x = head*m + place: a claim on Q_hat at point r is
/// the claim on Q whose weight along the feature dimension is P(., r). Unpadding, O = O_hat*U with U = P^T: a claim on
/// O at r is the claim on O_hat with weight P(r, .). Both weights enter the claim reduction of the tensor, whose
/// sum-check is the seed's batched one; the verifier evaluates them in O(h*m). Where m is a power of two both layouts
/// are the same polynomial and the weight is the point itself.

struct HeadLayout {
  std::size_t heads = 1;  // h, of keys and values
  std::size_t size = 1;   // m
  std::size_t group = 1;  // query heads for each
  bool split = false;
  [[nodiscard]] std::size_t query_heads() const { return heads * group; }
  /// Features of all query heads.
  [[nodiscard]] std::size_t features() const { return query_heads() * size; }
  /// q, k, v are already in the padded layout.
  [[nodiscard]] bool whole() const { return split || std::has_single_bit(size); }
  /// Places of a head: m_hat.
  [[nodiscard]] Dimension place() const { return Dimension::whole(size); }
  [[nodiscard]] unsigned head_bits() const { return ceil_log2(heads); }
  /// (block, head, group, place, token): chunks and flat order of q and y where they are padded.
  [[nodiscard]] Shape queries(const Dimension& block, const Dimension& token) const;
  /// (block, head, place, token): those of k and v.
  [[nodiscard]] Shape keys(const Dimension& block, const Dimension& token) const;
};

/// Place of a feature in the padded head layout: head*m_hat + place for feature head*m + place.
std::size_t padded_place(const HeadLayout& layout, std::size_t feature);
/// Weight along the feature dimension (2^feature_bits) for a point on (head, place).
Factor padded_to_feature(const HeadLayout& layout, unsigned feature_bits, const Point& head_place);
/// Weight along (head, place) for a point on the feature dimension.
Factor feature_to_padded(const HeadLayout& layout, unsigned padded_bits, const Point& feature);

/// The weight on q, k or v of a claim at a head point; along tokens it is `token`. `shape`: the tensor's.
std::vector<Factor> head_weight(const HeadLayout& layout, const Shape& shape, const TensorPoint& at, Factor token);
/// The weight on y of a claim on its features, unpadded, at (block, feature, token). Split: the feature's coordinates
/// are those of head, group and place. `shape`: y's.
std::vector<Factor> feature_weight(const HeadLayout& layout, const Shape& shape, const TensorPoint& at);

}  // namespace tessera
