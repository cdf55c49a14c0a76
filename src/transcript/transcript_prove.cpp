#include <algorithm>
#include <stdexcept>

#include "base/little_endian.hpp"
#include <tessera/communicator.hpp>
#include "field/encoding.hpp"
#include "hash/merkle_tree.hpp"
#include "transcript/transcript.hpp"

namespace tessera {

void ProverTranscript::append(std::string_view label, std::span<const std::uint8_t> bytes) {
  absorb(label, bytes);
  messages_.push_back({path(), std::string(label), payload_.size(), bytes.size()});
  payload_.insert(payload_.end(), bytes.begin(), bytes.end());
}

void ProverTranscript::begin_pads(std::vector<E> pads) {
  pads_ = std::move(pads);
  next_pad_ = 0;
}

void ProverTranscript::end_pads() {
  if (next_pad_ != pads_->size()) {
    throw std::logic_error("hiding: " + std::to_string(pads_->size()) + " pads for " + std::to_string(next_pad_) +
                           " values");
  }
  pads_.reset();
}

void ProverTranscript::send(std::string_view label, std::span<const E> values) {
  if (!pads_) {
    return send_public(label, values);
  }
  std::vector<E> padded(values.begin(), values.end());
  for (E& value : padded) {
    value += pads_->at(next_pad_++);
  }
  send_public(label, padded);
}

void ProverTranscript::send_public(std::string_view label, std::span<const E> values) { append(label, encode(values)); }

void ProverTranscript::send_hidden(std::string_view label, const E& value) {
  if (pads_) {
    send(label, value);
  }
}

void ProverTranscript::send(std::string_view label, std::span<const F> values) { append(label, encode(values)); }

void ProverTranscript::send(std::string_view label, const Digest& digest) { append(label, digest); }

void ProverTranscript::send(std::string_view label, std::span<const Digest> digests) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(digests.size() * sizeof(Digest));
  for (const Digest& digest : digests) {
    bytes.insert(bytes.end(), digest.begin(), digest.end());
  }
  append(label, bytes);
}

namespace {

/// Ranks search neighbouring stretches, all of them as many nonces as are likely to have one, until one is found.
std::uint64_t least_nonce(const Digest& state, unsigned bits, Communicator& comm) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t stretch =
      std::clamp((std::uint64_t{2} << bits) / ranks, std::uint64_t{1} << 11, std::uint64_t{1} << 14) / 64 * 64;
  for (std::uint64_t first = 0;; first += ranks * stretch) {
    const std::optional<std::uint64_t> mine =
        find_nonce(state, bits, first + static_cast<std::uint64_t>(comm.rank()) * stretch, stretch);
    std::int64_t least = mine ? -static_cast<std::int64_t>(*mine) : INT64_MIN;  // the largest of the negatives
    comm.all_reduce_max(std::span(&least, 1));
    if (least != INT64_MIN) {
      return static_cast<std::uint64_t>(-least);
    }
  }
}

}  // namespace

void ProverTranscript::grind(std::string_view label, unsigned bits, Communicator& comm) {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, least_nonce(state(), bits, comm));
  append(label, bytes);
}

}  // namespace tessera
