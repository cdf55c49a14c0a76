#include <vector>

#include "transcript/transcript.hpp"

#include <bit>
#include <cassert>

#include "base/little_endian.hpp"

namespace tessera {
namespace {

enum class Domain : std::uint8_t { absorb = 1, challenge = 2, output = 3, work = 4 };

std::vector<std::uint8_t> begin_message(Domain domain, const Digest& state) {
  std::vector<std::uint8_t> message;
  message.reserve(256);
  message.push_back(static_cast<std::uint8_t>(domain));
  message.insert(message.end(), state.begin(), state.end());
  return message;
}

void append_name(std::vector<std::uint8_t>& message, const std::string& path, std::string_view label) {
  append_little_endian<std::uint64_t>(message, path.size() + 1 + label.size());
  message.insert(message.end(), path.begin(), path.end());
  message.push_back(':');
  message.insert(message.end(), label.begin(), label.end());
}

F reduce_half(const std::uint8_t* bytes) {
  return F::reduce128(static_cast<unsigned __int128>(read_little_endian<std::uint64_t>(bytes + 8)) << 64 |
                      read_little_endian<std::uint64_t>(bytes));
}

}  // namespace

Transcript::Scope::Scope(Transcript& transcript, std::string_view name)
    : transcript_(transcript), parent_length_(transcript.path_.size()), start_(std::chrono::steady_clock::now()) {
  transcript.path_.append("/").append(name);
  transcript.timings_.try_emplace(transcript.path_);  // the end, which must not throw, needs no memory
  if (transcript.listener_.begins) {
    transcript.listener_.begins(transcript.path_);
  }
}

Transcript::Scope::~Scope() {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  transcript_.timings_.find(transcript_.path_)->second += elapsed.count();
  if (transcript_.listener_.ends) {
    transcript_.listener_.ends(transcript_.path_);
  }
  transcript_.path_.resize(parent_length_);
}

void Transcript::absorb(std::string_view label, std::span<const std::uint8_t> data) {
  std::vector<std::uint8_t> message = begin_message(Domain::absorb, state_);
  append_name(message, path_, label);
  append_little_endian<std::uint64_t>(message, data.size());
  message.insert(message.end(), data.begin(), data.end());
  state_ = blake2s(message);
}

Digest Transcript::squeeze(std::string_view label) {
  std::vector<std::uint8_t> message = begin_message(Domain::challenge, state_);
  append_name(message, path_, label);
  state_ = blake2s(message);
  return blake2s(begin_message(Domain::output, state_));
}

E Transcript::challenge(std::string_view label) {
  const Digest output = squeeze(label);
  return {reduce_half(output.data()), reduce_half(output.data() + 16)};
}

std::vector<std::size_t> Transcript::positions(std::string_view label, std::size_t count, std::uint64_t size) {
  assert(size > 0 && size <= std::uint64_t{1} << 32U);
  std::vector<std::size_t> result;
  result.reserve(count);
  while (result.size() < count) {
    const Digest output = squeeze(label);
    for (std::size_t i = 0; i < 4 && result.size() < count; ++i) {
      result.push_back(static_cast<std::size_t>(read_little_endian<std::uint64_t>(output.data() + 8 * i) % size));
    }
  }
  if (listener_.draws) {
    listener_.draws(result);
  }
  return result;
}

unsigned Transcript::work_of(std::uint64_t nonce) const {
  std::vector<std::uint8_t> message = begin_message(Domain::work, state_);
  append_little_endian(message, nonce);
  const Digest digest = blake2s(message);
  unsigned bits = 0;
  for (const std::uint8_t byte : digest) {
    bits += static_cast<unsigned>(std::countl_zero(byte));
    if (byte != 0) {
      break;
    }
  }
  return bits;
}

}  // namespace tessera
