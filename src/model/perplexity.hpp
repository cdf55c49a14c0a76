#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace tessera {

/// Negative log-likelihood of predicted tokens.
struct Perplexity {
  double total_nll = 0;       // nats
  std::size_t predicted = 0;  // tokens
  /// Adds one prediction: -log softmax(logits)[target].
  void add(std::span<const double> logits, std::uint32_t target);
  [[nodiscard]] double mean() const;   // nats per token
  [[nodiscard]] double value() const;  // exp(mean)
};

/// Called with (units done, units in all): tokens, or tokens times blocks.
using Progress = std::function<void(std::size_t, std::size_t)>;

}  // namespace tessera
