#include "arithmetic/range_guard.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

void RangeGuard::report(std::string_view tensor, std::int64_t value, Bounds bounds) {
  const std::lock_guard lock(mutex_);
  const auto magnitude = [](std::int64_t v) { return v < 0 ? -static_cast<__int128>(v) : static_cast<__int128>(v); };
  const bool larger = magnitude(value) > magnitude(value_) || (magnitude(value) == magnitude(value_) && value > value_);
  if (!message_.empty() && (tensor != tensor_ || !larger)) {
    return;
  }
  tensor_ = tensor;
  value_ = value;
  message_ = (block_ ? "block " + std::to_string(*block_) + ", " : std::string()) + tensor_ + ": value " +
             std::to_string(value) + " outside [" + std::to_string(bounds.low) + ", " + std::to_string(bounds.high) +
             "] of the quantized model";
}

void RangeGuard::agree(Communicator& comm) {
  std::int64_t any = violated() ? 1 : 0;
  comm.all_reduce_max(std::span(&any, 1));
  if (any == 0) {
    return;
  }
  // fixed-size fields, so that the first non-empty one can be told apart
  constexpr std::size_t field = 256;
  std::string mine = message_.substr(0, field);
  mine.resize(field, '\0');
  const std::vector<char> all = comm.all_gather<char>(mine);
  for (std::size_t at = 0; at < all.size(); at += field) {
    if (all[at] != '\0') {
      throw RangeError(std::string(all.data() + at, strnlen(all.data() + at, field)));
    }
  }
}

}  // namespace tessera
