#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "base/little_endian.hpp"
#include "field/goldilocks.hpp"
#include "transcript/transcript.hpp"

namespace tessera::test {

/// All elements of F that were sent.
inline std::vector<F> elements_sent(const ProverTranscript& transcript) {
  std::vector<F> elements;
  for (const Message& message : transcript.messages()) {
    if (message.label != "root" && message.label != "siblings" && message.label != "work") {
      for (std::size_t at = message.offset; at < message.offset + message.length; at += sizeof(std::uint64_t)) {
        elements.push_back(F::from_canonical(read_little_endian<std::uint64_t>(transcript.payload().data() + at)));
      }
    }
  }
  return elements;
}

/// The derivative, by element of the randomness, of the map from an opening's randomness to everything that it sends,
/// with challenges fixed. The map is affine.
template <class Opening>
class Derivative {
 public:
  Derivative(Opening& opening, std::uint64_t seed) : opening_(opening), at_(opening.draw(seed)) {
    origin_ = opening_.sent(at_);
  }
  std::vector<F> by(std::size_t part, std::size_t element) {
    typename Opening::Randomness moved = at_;
    moved[part][element] += F::one();
    return minus_origin(opening_.sent(moved));
  }
  [[nodiscard]] std::vector<F> minus_origin(std::vector<F> sent) const {
    EXPECT_EQ(sent.size(), origin_.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] -= origin_[i];
    }
    return sent;
  }

 private:
  Opening& opening_;
  typename Opening::Randomness at_;
  std::vector<F> origin_;
};

}  // namespace tessera::test
