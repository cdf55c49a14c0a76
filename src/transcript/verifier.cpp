#include "transcript/verifier.hpp"

#include <cstring>

#include "base/little_endian.hpp"

namespace tessera {

std::span<const std::uint8_t> VerifierTranscript::take(std::string_view label, std::size_t bytes) {
  check(rest_.size() >= bytes, "proof ends inside message " + std::string(label));
  const std::span<const std::uint8_t> data = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return data;
}

std::vector<F> VerifierTranscript::receive_base(std::string_view label, std::size_t count) {
  const std::span<const std::uint8_t> data = take(label, count * 8);
  std::vector<F> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = read_little_endian<std::uint64_t>(data.data() + 8 * i);
    check(value < F::modulus, "field element not below p in message " + std::string(label));
    values.push_back(F::from_canonical(value));
  }
  absorb(label, data);
  return values;
}

std::vector<E> VerifierTranscript::receive(std::string_view label, std::size_t count) {
  const std::vector<F> flat = receive_base(label, 2 * count);
  std::vector<E> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    values.emplace_back(flat[2 * i], flat[2 * i + 1]);
  }
  return values;
}

std::vector<Digest> VerifierTranscript::receive_digests(std::string_view label, std::size_t count) {
  const std::span<const std::uint8_t> data = take(label, count * sizeof(Digest));
  std::vector<Digest> digests(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(digests[i].data(), data.data() + i * sizeof(Digest), sizeof(Digest));
  }
  absorb(label, data);
  return digests;
}

std::vector<std::uint8_t> VerifierTranscript::receive_bytes(std::string_view label, std::size_t count) {
  const std::span<const std::uint8_t> data = take(label, count);
  absorb(label, data);
  return {data.begin(), data.end()};
}

void VerifierTranscript::check_work(std::string_view label, unsigned bits) {
  const std::span<const std::uint8_t> data = take(label, 8);
  check(work_of(read_little_endian<std::uint64_t>(data.data())) >= bits,
        "not enough work in message " + std::string(label));
  absorb(label, data);
}

void VerifierView<E>::check(bool ok, std::string_view why) const {
  if (!ok && checks_) {
    throw Rejected(path().empty() ? "/" : path(), std::string(why));
  }
}

}  // namespace tessera
