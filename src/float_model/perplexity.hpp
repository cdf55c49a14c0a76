#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/progress.hpp"

namespace tessera {

/// Negative log-likelihood of predicted tokens.
struct Perplexity {
  double total_nll = 0;       // nats
  std::size_t predicted = 0;  // tokens
  /// Adds one prediction: -log softmax(logits)[target].
  void add(std::span<const double> logits, std::uint32_t target);
  [[nodiscard]] double value() const;  // exp of the mean
};

}  // namespace tessera
