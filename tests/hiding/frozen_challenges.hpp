#pragma once

#include <span>

#include "field/extension.hpp"
#include "hash/keyed_stream.hpp"

/// \file
/// What tests alone can do to transcripts and streams: test_hiding is linked with wrapped symbols
/// (tests/CMakeLists.txt).

namespace tessera::test {

/// While it lives, challenges and positions depend on the transcript's seed and on their order alone, not on messages,
/// and no work is needed: what the prover sends is a function of its randomness with all challenges fixed.
class FrozenChallenges {
 public:
  FrozenChallenges();
  ~FrozenChallenges();
  FrozenChallenges(const FrozenChallenges&) = delete;
  FrozenChallenges& operator=(const FrozenChallenges&) = delete;
};

/// While it lives, `stream` gives these elements of E instead of its own.
class ReplacedStream {
 public:
  ReplacedStream(const KeyedStream& stream, std::span<const E> elements);
  ~ReplacedStream();
  ReplacedStream(const ReplacedStream&) = delete;
  ReplacedStream& operator=(const ReplacedStream&) = delete;
};

}  // namespace tessera::test
