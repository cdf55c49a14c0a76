#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "field/extension.hpp"
#include "hash/keyed_stream.hpp"

/// \file
/// What tests alone can do to transcripts and streams: test_hiding is linked with wrapped symbols
/// (tests/CMakeLists.txt).

namespace tessera {
class LeafExtras;
struct CommittedWord;
}  // namespace tessera

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

/// What a liar's vectors are, of a rank that is alone.
struct VectorLie {
  const KeyedStream* stream = nullptr;  // of the vectors' masks
  /// Changes what is read of it, each time.
  std::function<void(std::uint64_t first, std::span<E>)> elements = {};
  /// Changes a vector with its fresh columns, before it is committed to.
  std::function<void(std::size_t round, std::span<E>)> values = {};
  /// What follows the last vector's columns in their leaves.
  std::function<std::shared_ptr<const LeafExtras>(std::shared_ptr<const LeafExtras>, const CommittedWord&)> leaves = {};
};

/// While it lives, provers lie so.
class LyingAboutVectors {
 public:
  explicit LyingAboutVectors(const VectorLie& told);
  ~LyingAboutVectors();
  LyingAboutVectors(const LyingAboutVectors&) = delete;
  LyingAboutVectors& operator=(const LyingAboutVectors&) = delete;
};

}  // namespace tessera::test
