#include "tensor/slots.hpp"

#include <array>
#include <limits>
#include <string>

#include "base/errors.hpp"

namespace tessera {

Slots deal_slots(std::span<const Pieces> pieces) {
  std::array<std::size_t, 64> next{};  // entry after the pieces of a size so far
  std::uint64_t used = 0;              // whatever std::size_t is
  for (const auto& [log_size, count] : pieces) {
    next.at(log_size) += count;
    used += std::uint64_t{count} << log_size;
  }
  if (used > std::numeric_limits<std::size_t>::max()) {
    throw InputError("size: expected a model and a statement for machines of " +
                     std::to_string(std::numeric_limits<std::size_t>::digits) + " bits, found " + std::to_string(used) +
                     " values together");
  }
  Slots slots;
  for (std::size_t log_size = next.size(); log_size-- > 0;) {
    const std::size_t count = next[log_size];
    next[log_size] = slots.used;
    slots.used += count == 0 ? 0 : count << log_size;  // a shift may be too far
  }
  slots.first.reserve(pieces.size());
  for (const auto& [log_size, count] : pieces) {
    slots.first.push_back(next[log_size]);
    next[log_size] += count << log_size;
  }
  return slots;
}

}  // namespace tessera
