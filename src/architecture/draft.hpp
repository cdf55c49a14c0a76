#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

/// Tokens that may come next, so that one pass over the weights can choose several (speculative decoding, with
/// guesses by prompt look-up): a pass takes the last chosen token and the guesses behind it, and as many choices count
/// as guesses were right, and one more. What is chosen never depends on guesses.
class Draft {
 public:
  static constexpr std::size_t most = 7;

  /// Up to `limit` guesses after `ids`: what came after the latest earlier place of their last few ids. None if there
  /// is no such place.
  [[nodiscard]] std::vector<std::uint32_t> next(std::span<const std::uint32_t> ids, std::size_t limit) const;
  /// Tells how many of the guesses of next() were right. next() guesses more while all are right, fewer after a wrong
  /// one.
  void learn(std::size_t guesses, std::size_t right);

 private:
  std::size_t length_ = 3;
};

}  // namespace tessera
