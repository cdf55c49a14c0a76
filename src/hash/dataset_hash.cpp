#include "hash/dataset_hash.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera {
namespace {

std::span<const std::uint8_t> octets(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

DatasetHash::DatasetHash(std::uint64_t bytes, HashMany hash_many)
    : hash_many_(hash_many), in_one_(bytes <= most_in_one) {
  if (!in_one_) {
    static constexpr std::string_view domain = "tessera pieces\n";
    hash_.update({reinterpret_cast<const std::uint8_t*>(domain.data()), domain.size()});
  }
}

void DatasetHash::update(std::span<const std::byte> part) { update(octets(part)); }

void DatasetHash::update(std::span<const std::uint8_t> part) {
  if (in_one_) {
    hash_.update(part);
    return;
  }
  if (!begun_.empty()) {
    const std::size_t size = std::min(part.size(), piece_bytes - begun_.size());
    begun_.insert(begun_.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size));
    part = part.subspan(size);
    if (begun_.size() < piece_bytes) {
      return;
    }
    add_pieces(begun_);
    begun_.clear();
  }
  const std::size_t whole = part.size() / piece_bytes * piece_bytes;
  add_pieces(part.first(whole));
  begun_.assign(part.begin() + static_cast<std::ptrdiff_t>(whole), part.end());
}

void DatasetHash::add_pieces(std::span<const std::uint8_t> pieces) {
  std::array<Digest, 64> digests;
  while (!pieces.empty()) {
    const std::size_t count = std::min(digests.size(), pieces.size() / piece_bytes);
    hash_many_(pieces.first(count * piece_bytes), piece_bytes, std::span(digests).first(count));
    for (const Digest& digest : std::span(digests).first(count)) {
      hash_.update(digest);
    }
    pieces = pieces.subspan(count * piece_bytes);
  }
}

Digest DatasetHash::digest() {
  if (!begun_.empty()) {
    hash_.update(blake2s(begun_));
    begun_.clear();
  }
  return hash_.digest();
}

Digest dataset_digest(std::span<const std::byte> bytes, DatasetHash::HashMany hash_many) {
  DatasetHash hash(bytes.size(), hash_many);
  hash.update(bytes);
  return hash.digest();
}

}  // namespace tessera
