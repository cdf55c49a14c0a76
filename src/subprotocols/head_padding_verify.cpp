#include "subprotocols/head_padding.hpp"

#include <bit>

namespace tessera {

std::size_t padded_place(const ModelShape& model, std::size_t feature) {
  const std::size_t m = model.head_size();
  return (feature / m << ceil_log2(m)) + feature % m;
}

Factor padded_to_feature(const ModelShape& model, unsigned feature_bits, const Point& head_place) {
  if (std::has_single_bit(model.head_size())) {
    return Factor::at(head_place);
  }
  const std::vector<E> table = eq_table(head_place);
  std::vector<E> weight(std::size_t{1} << feature_bits);
  for (std::size_t x = 0; x < model.n_embd; ++x) {
    weight[x] = table[padded_place(model, x)];
  }
  return Factor::of(std::move(weight));
}

Factor feature_to_padded(const ModelShape& model, unsigned padded_bits, const Point& feature) {
  if (std::has_single_bit(model.head_size())) {
    return Factor::at(feature);
  }
  const std::vector<E> table = eq_table(feature);
  std::vector<E> weight(std::size_t{1} << padded_bits);
  for (std::size_t x = 0; x < model.n_embd; ++x) {
    weight[padded_place(model, x)] = table[x];
  }
  return Factor::of(std::move(weight));
}

}  // namespace tessera
