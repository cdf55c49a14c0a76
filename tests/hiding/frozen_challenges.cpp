#include "frozen_challenges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "commitment/hiding_leaves.hpp"
#include "commitment/vector_masks.hpp"
#include "transcript/transcript.hpp"

namespace tessera::test {
namespace {

bool frozen = false;
const KeyedStream* replaced = nullptr;
std::span<const E> replacement;
const VectorLie* lie = nullptr;

// What the linker puts in place of Transcript::absorb(), Transcript::work_of(), find_nonce(), KeyedStream::elements(E),
// VectorMasks::fill() and clear_mask_leaves(), and what those were (--wrap).
#define TESSERA_WRAPPED(NAME) __asm__("__wrap_" NAME)
#define TESSERA_REAL(NAME) __asm__("__real_" NAME)
#define TESSERA_ABSORB \
  "_ZN7tessera10Transcript6absorbESt17basic_string_viewIcSt11char_traitsIcEESt4spanIKhLm18446744073709551615EE"
#define TESSERA_WORK_OF "_ZNK7tessera10Transcript7work_ofEm"
#define TESSERA_FIND_NONCE "_ZN7tessera10find_nonceERKSt5arrayIhLm32EEjmm"
#define TESSERA_FILL "_ZNK7tessera11VectorMasks4fillEmRKNS_13ResidueSharesESt4spanINS_1EELm18446744073709551615EE"
#define TESSERA_CLEAR_LEAVES \
  "_ZN7tessera17clear_mask_leavesESt4spanIKNS_1EELm18446744073709551615EERKNS_13CommittedWordE"
#define TESSERA_ELEMENTS "_ZNK7tessera11KeyedStream8elementsEmSt4spanINS_1EELm18446744073709551615EE"

}  // namespace

void real_absorb(Transcript*, std::string_view, std::span<const std::uint8_t>) TESSERA_REAL(TESSERA_ABSORB);
unsigned real_work_of(const Transcript*, std::uint64_t) TESSERA_REAL(TESSERA_WORK_OF);
std::optional<std::uint64_t> real_find_nonce(const Digest&, unsigned, std::uint64_t, std::uint64_t)
    TESSERA_REAL(TESSERA_FIND_NONCE);
void real_elements(const KeyedStream*, std::uint64_t, std::span<E>) TESSERA_REAL(TESSERA_ELEMENTS);
void real_fill(const VectorMasks*, std::size_t, const ResidueShares&, std::span<E>) TESSERA_REAL(TESSERA_FILL);
std::shared_ptr<const LeafExtras> real_leaves(std::span<const E>, const CommittedWord&)
    TESSERA_REAL(TESSERA_CLEAR_LEAVES);
void wrapped_fill(const VectorMasks*, std::size_t, const ResidueShares&, std::span<E>) TESSERA_WRAPPED(TESSERA_FILL);
std::shared_ptr<const LeafExtras> wrapped_leaves(std::span<const E>, const CommittedWord&)
    TESSERA_WRAPPED(TESSERA_CLEAR_LEAVES);
void wrapped_absorb(Transcript*, std::string_view, std::span<const std::uint8_t>) TESSERA_WRAPPED(TESSERA_ABSORB);
unsigned wrapped_work_of(const Transcript*, std::uint64_t) TESSERA_WRAPPED(TESSERA_WORK_OF);
std::optional<std::uint64_t> wrapped_find_nonce(const Digest&, unsigned, std::uint64_t, std::uint64_t)
    TESSERA_WRAPPED(TESSERA_FIND_NONCE);
void wrapped_elements(const KeyedStream*, std::uint64_t, std::span<E>) TESSERA_WRAPPED(TESSERA_ELEMENTS);

void wrapped_absorb(Transcript* transcript, std::string_view label, std::span<const std::uint8_t> data) {
  if (!frozen) {
    real_absorb(transcript, label, data);
  }
}

unsigned wrapped_work_of(const Transcript* transcript, std::uint64_t nonce) {
  return frozen ? std::numeric_limits<unsigned>::max() : real_work_of(transcript, nonce);
}

std::optional<std::uint64_t> wrapped_find_nonce(const Digest& state, unsigned bits, std::uint64_t first,
                                                std::uint64_t count) {
  return frozen ? 0 : real_find_nonce(state, bits, first, count);
}

void wrapped_elements(const KeyedStream* stream, std::uint64_t first, std::span<E> to) {
  if (stream == replaced) {
    std::ranges::copy(replacement.subspan(first, to.size()), to.begin());
  } else {
    real_elements(stream, first, to);
  }
  if (lie != nullptr && lie->elements && stream == lie->stream) {
    lie->elements(first, to);
  }
}

void wrapped_fill(const VectorMasks* masks, std::size_t round, const ResidueShares& columns, std::span<E> values) {
  real_fill(masks, round, columns, values);
  if (lie != nullptr && lie->values) {
    lie->values(round, values);
  }
}

std::shared_ptr<const LeafExtras> wrapped_leaves(std::span<const E> mask, const CommittedWord& word) {
  std::shared_ptr<const LeafExtras> leaves = real_leaves(mask, word);
  return lie != nullptr && lie->leaves ? lie->leaves(leaves, word) : leaves;
}

LyingAboutVectors::LyingAboutVectors(const VectorLie& told) { lie = &told; }
LyingAboutVectors::~LyingAboutVectors() { lie = nullptr; }

FrozenChallenges::FrozenChallenges() { frozen = true; }
FrozenChallenges::~FrozenChallenges() { frozen = false; }

ReplacedStream::ReplacedStream(const KeyedStream& stream, std::span<const E> elements) {
  replaced = &stream;
  replacement = elements;
}
ReplacedStream::~ReplacedStream() { replaced = nullptr; }

}  // namespace tessera::test
