#include "subprotocols/head_padding.hpp"

namespace tessera {

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

}  // namespace tessera
