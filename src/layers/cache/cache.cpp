#include "layers/cache/cache.hpp"

namespace tessera {

Factor placed_rows(const Dimension& rows, std::size_t past, std::size_t count, const Point& position) {
  if (past == 0 && count == rows.filled() && position.size() == rows.bits()) {
    return Factor::at(position);  // absent rows are zero
  }
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << rows.bits()));
  for (std::size_t i = 0; i < count; ++i) {
    weight.head[i] = eq_index(position, past + i);
  }
  return weight;
}

Factor state_rows(unsigned bits, const Point& position) {
  const std::size_t missing = bits > position.size() ? bits - position.size() : 0;
  const std::size_t beyond = position.size() + missing - bits;
  // fewer variables: the state's leading ones are 0; more: those positions are 0 in the state
  Factor weight = Factor::at(join(Point(missing), std::span(position).subspan(beyond)));
  for (std::size_t i = 0; i < beyond; ++i) {
    weight.head.front() *= E::one() - position[i];
  }
  return weight;
}

}  // namespace tessera
