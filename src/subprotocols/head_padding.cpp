#include "subprotocols/head_padding.hpp"

namespace tessera {
namespace {

/// Factors on block, on the dimensions between block and token at the natural index `middle`, and on tokens.
std::vector<Factor> weight_over(const Shape& shape, const Point& block, std::span<const E> middle, Factor token) {
  const std::vector<Dimension>& dimensions = shape.dimensions();
  std::vector<Factor> weight{Factor::at(block)};
  for (Point& coordinates : deal(std::span(dimensions).subspan(1, dimensions.size() - 2), middle)) {
    weight.push_back(Factor::at(std::move(coordinates)));
  }
  weight.push_back(std::move(token));
  return weight;
}

}  // namespace

Shape HeadLayout::queries(const Dimension& block, const Dimension& token) const {
  return Shape({block, Dimension::outer(heads), Dimension::outer(group), place(), token});
}

Shape HeadLayout::keys(const Dimension& block, const Dimension& token) const {
  return Shape({block, Dimension::outer(heads), place(), token});
}

std::size_t padded_place(const HeadLayout& layout, std::size_t feature) {
  const std::size_t m = layout.size;
  return (feature / m << ceil_log2(m)) + feature % m;
}

Factor padded_to_feature(const HeadLayout& layout, unsigned feature_bits, const Point& head_place) {
  if (layout.whole()) {
    return Factor::at(head_place);
  }
  const std::vector<E> table = eq_table(head_place);
  std::vector<E> weight(std::size_t{1} << feature_bits);
  for (std::size_t x = 0; x < layout.features(); ++x) {
    weight[x] = table[padded_place(layout, x)];
  }
  return Factor::of(std::move(weight));
}

Factor feature_to_padded(const HeadLayout& layout, unsigned padded_bits, const Point& feature) {
  if (layout.whole()) {
    return Factor::at(feature);
  }
  const std::vector<E> table = eq_table(feature);
  std::vector<E> weight(std::size_t{1} << padded_bits);
  for (std::size_t x = 0; x < layout.features(); ++x) {
    weight[padded_place(layout, x)] = table[x];
  }
  return Factor::of(std::move(weight));
}

std::vector<Factor> head_weight(const HeadLayout& layout, const Shape& shape, const TensorPoint& at, Factor token) {
  const Point place = joined(at, 1, at.size() - 1);
  if (layout.whole()) {
    return weight_over(shape, at[0], place, std::move(token));
  }
  return {Factor::at(at[0]), padded_to_feature(layout, shape.dimensions()[1].bits(), place), std::move(token)};
}

std::vector<Factor> feature_weight(const HeadLayout& layout, const Shape& shape, const TensorPoint& at) {
  if (layout.whole()) {
    return weight_over(shape, at[0], at[1], Factor::at(at[2]));
  }
  return {Factor::at(at[0]), feature_to_padded(layout, shape.dimensions()[1].bits(), at[1]), Factor::at(at[2])};
}

}  // namespace tessera
