#include "datasets/hdf5_image.hpp"

#include <cstring>
#include <algorithm>
#include <array>
#include <bit>

namespace tessera::hdf5 {
namespace {

constexpr std::uint64_t superblock_size = 48;

struct Lookup3 {
  std::uint32_t a, b, c;
  void mix() {
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  void finish() {
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
  }
  void add(Bytes block) {  // up to 12 bytes
    for (std::size_t i = 0; i < block.size(); ++i) {
      (i < 4 ? a : i < 8 ? b : c) += std::uint32_t{block[i]} << (8 * (i % 4));
    }
  }
};

/// Versions 0 and 1, which have no checksum: that the bytes behind the version are theirs tells it from damage.
void refuse_old_superblock(Bytes file) {
  constexpr std::size_t at = 8;
  constexpr std::array<std::uint8_t, 6> rest{0, 0, 0, 0, 8, 8};
  const bool old =
      file.size() > at + rest.size() && file[at] < 2 && std::ranges::equal(file.subspan(at + 1, rest.size()), rest);
  if (old) {
    throw Rewritten("superblock version 2 or 3", std::to_string(file[at]));
  }
}

}  // namespace

std::uint32_t lookup3(Bytes bytes) {
  const std::uint32_t begin = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  Lookup3 state{begin, begin, begin};
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    state.add(bytes.first(12));
    state.mix();
  }
  if (!bytes.empty()) {
    state.add(bytes);
    state.finish();
  }
  return state.c;
}

Bytes Fields::take(std::uint64_t size) {
  if (size > rest_.size()) {
    throw Damaged("a whole structure", "a part of one");
  }
  const Bytes taken = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

std::uint64_t Fields::number_of(std::size_t size) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::uint8_t byte : take(size)) {
    value |= std::uint64_t{byte} << shift;
    shift += 8;
  }
  return value;
}

void Fields::signature(std::string_view text) {
  const Bytes found = take(text.size());
  if (std::string_view(reinterpret_cast<const char*>(found.data()), found.size()) != text) {
    throw Damaged("a structure that begins with " + std::string(text), "other bytes");
  }
}

void Fields::expect(std::uint8_t value, std::string_view what) {
  if (const auto found = number<std::uint8_t>(); found != value) {
    throw Rewritten(std::string(what) + " " + std::to_string(value), std::to_string(found));
  }
}

Image::Image(Bytes file) : file_(file) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  if (file_.size() < signature.size() || std::memcmp(file_.data(), signature.data(), signature.size()) != 0) {
    throw Damaged("the signature of HDF5", "other bytes");
  }
  refuse_old_superblock(file_);
  Fields fields(checked(0, superblock_size));
  fields.skip(signature.size());
  const auto version = fields.number<std::uint8_t>();
  if (version != 2 && version != 3) {
    throw Damaged("superblock version 2 or 3", std::to_string(version));
  }
  fields.expect(8, "size of offsets");
  fields.expect(8, "size of lengths");
  fields.expect(0, "file consistency flags");
  if (fields.address() != 0 || fields.address() != undefined_address) {
    throw Rewritten("a file without user block and superblock extension", "one with them");
  }
  const std::uint64_t end = fields.address();
  root_ = fields.address();
  if (end > file_.size()) {
    throw Damaged("a file of " + std::to_string(end) + " bytes", std::to_string(file_.size()));
  }
  file_ = file_.first(static_cast<std::size_t>(end));
}

Bytes Image::at(std::uint64_t address, std::uint64_t size) const {
  if (address > file_.size() || size > file_.size() - address) {
    throw Damaged("structures inside the file's " + std::to_string(file_.size()) + " bytes",
                  std::to_string(size) + " bytes at " + std::to_string(address));
  }
  return file_.subspan(static_cast<std::size_t>(address), static_cast<std::size_t>(size));
}

Bytes Image::checked(std::uint64_t address, std::uint64_t size) const {
  constexpr std::uint64_t checksum_size = 4;
  const Bytes bytes = at(address, size);
  if (size < checksum_size) {
    throw Damaged("a checksum", "none");
  }
  const Bytes content = bytes.first(bytes.size() - checksum_size);
  if (lookup3(content) != read_little_endian<std::uint32_t>(content.data() + content.size())) {
    throw Damaged("structures with right checksums", "a wrong one (the file is damaged)");
  }
  return content;
}

}  // namespace tessera::hdf5
