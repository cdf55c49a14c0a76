#include <algorithm>
#include "lookup/lookup.hpp"
#include "tensor/slots.hpp"

namespace tessera {

LookupStructure::Slots LookupStructure::slots() const {
  std::vector<Pieces> pieces;
  for (const LookupColumn& c : columns) {
    pieces.push_back({c.shape.bits()});
  }
  for (const LookupTable& t : tables) {
    pieces.push_back({t.log_size});
  }
  const auto [first, used] = deal_slots(pieces);
  const auto split = first.begin() + static_cast<std::ptrdiff_t>(columns.size());
  return {{first.begin(), split}, {split, first.end()}, ceil_log2(used)};
}

std::size_t LookupStructure::present_leaves() const {
  std::size_t leaves = 0;
  for (const LookupColumn& c : columns) {
    leaves += c.shape.chunk_count() << c.shape.inner_bits();
  }
  for (const LookupTable& t : tables) {
    leaves += std::size_t{1} << t.log_size;
  }
  return leaves;
}

unsigned LookupStructure::grinding_bits() const {
  const unsigned free_bits = 128 - 2 - slots().log_leaves;  // floor(128 - log2(4*2^log_leaves))
  return std::max(8U, 101U - std::min(101U, free_bits));
}

}  // namespace tessera
