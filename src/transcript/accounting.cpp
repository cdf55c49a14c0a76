#include <algorithm>

#include "base/bits.hpp"
#include "transcript/verifier.hpp"

namespace tessera {

std::vector<std::size_t> spread_positions(std::size_t count, std::uint64_t size) {
  // in the order of their bits in reverse: every level of a tree over them has as many different nodes above them as it
  // can, hence most siblings
  const auto distinct = static_cast<std::size_t>(std::min<std::uint64_t>(count, size));
  const unsigned bits = ceil_log2(size);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; positions.size() < distinct; ++i) {
    if (const std::size_t position = bit_reverse(i, bits); position < size) {
      positions.push_back(position);
    }
  }
  std::ranges::sort(positions);
  return positions;
}

void AccountingTranscript::message(std::string_view label, Account::Unit unit, std::size_t count) {
  account_.messages.push_back({path(), std::string(label), unit, count});
  work_ = 0;
}

std::vector<E> AccountingTranscript::receive(std::string_view label, std::size_t count) {
  message(label, Account::Unit::extension, count);
  return std::vector<E>(count);
}

std::vector<F> AccountingTranscript::receive_base(std::string_view label, std::size_t count) {
  message(label, Account::Unit::base, count);
  return std::vector<F>(count);
}

std::vector<Digest> AccountingTranscript::receive_digests(std::string_view label, std::size_t count) {
  message(label, Account::Unit::digest, count);
  return std::vector<Digest>(count);
}

std::vector<std::uint8_t> AccountingTranscript::receive_bytes(std::string_view label, std::size_t count) {
  message(label, Account::Unit::byte, count);
  return std::vector<std::uint8_t>(count);
}

void AccountingTranscript::check_work(std::string_view label, unsigned bits) {
  message(label, Account::Unit::nonce, 1);
  work_ = bits;
}

E AccountingTranscript::challenge(std::string_view label, double degree, std::string_view reason) {
  account_.chances.push_back(
      {account_.messages.size(), path(), std::string(label), std::string(reason), degree, 0, work_});
  return {};
}

std::vector<std::size_t> AccountingTranscript::positions(std::string_view label, std::size_t count, std::uint64_t size,
                                                         double bits, std::string_view reason) {
  account_.chances.push_back(
      {account_.messages.size(), path(), std::string(label), std::string(reason), 0, bits, work_});
  return positions_(count, size);
}

void AccountingTranscript::identity(std::size_t variables, std::string_view reason) {
  account_.chances.push_back(
      {account_.messages.size(), path(), "", std::string(reason), static_cast<double>(variables), 0, 0});
}

}  // namespace tessera
