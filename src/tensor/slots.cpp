#include "tensor/slots.hpp"

#include <array>

namespace tessera {

Slots deal_slots(std::span<const unsigned> log_sizes) {
  std::array<std::size_t, 64> next{};  // entry after the pieces of a size so far
  for (const unsigned log_size : log_sizes) {
    ++next.at(log_size);
  }
  Slots slots;
  for (std::size_t log_size = next.size(); log_size-- > 0;) {
    const std::size_t count = next[log_size];
    next[log_size] = slots.used;
    slots.used += count << log_size;
  }
  slots.first.reserve(log_sizes.size());
  for (const unsigned log_size : log_sizes) {
    slots.first.push_back(next[log_size]);
    next[log_size] += std::size_t{1} << log_size;
  }
  return slots;
}

}  // namespace tessera
