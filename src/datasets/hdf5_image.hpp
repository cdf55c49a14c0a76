#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/little_endian.hpp"

/// \file
/// Our kind of HDF5 file (archive/hdf5.hpp) read from memory, without the library: superblock 2 or 3, object headers of
/// version 2, links in a fractal heap under a version 2 B-tree. Every checksum that the library looks at is checked.
/// Names of structures and fields are those of the HDF5 file format specification, version 3.0.

namespace tessera::hdf5 {

/// Bytes that are no HDF5 file of ours: "expected ..., found ...".
class Damaged : public std::runtime_error {
 public:
  Damaged(std::string_view expected, std::string_view found)
      : std::runtime_error("expected " + std::string(expected) + ", found " + std::string(found)) {}
};

/// Bytes that are no HDF5 file of ours but need not be damaged: another program has written them in another way, maybe
/// from a file of ours.
class Rewritten : public Damaged {
 public:
  using Damaged::Damaged;
};

/// What such a file is called.
inline constexpr const char* rewritten = "one that another program has written, or written again";

using Bytes = std::span<const std::uint8_t>;

inline constexpr std::uint64_t undefined_address = ~std::uint64_t{0};

/// Bob Jenkins' lookup3 (hashlittle), which the format takes for checksums and for the order of names.
std::uint32_t lookup3(Bytes bytes);

/// Takes fields one after the other; throws Damaged where there are no more bytes.
class Fields {
 public:
  explicit Fields(Bytes bytes) : rest_(bytes) {}
  [[nodiscard]] Bytes take(std::uint64_t size);
  template <class T>
  T number() {
    return read_little_endian<T>(take(sizeof(T)).data());
  }
  /// An unsigned integer of 1 to 8 bytes.
  std::uint64_t number_of(std::size_t size);
  std::uint64_t address() { return number<std::uint64_t>(); }
  void skip(std::uint64_t size) { (void)take(size); }
  /// Throws Damaged unless these characters come next.
  void signature(std::string_view text);
  /// Throws Rewritten unless this byte comes next, which `what` names.
  void expect(std::uint8_t value, std::string_view what);
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  Bytes rest_;
};

/// A file in memory.
class Image {
 public:
  /// Checks the superblock.
  explicit Image(Bytes file);
  [[nodiscard]] std::uint64_t root() const { return root_; }
  /// Bytes inside the part of the file that the superblock says is used.
  [[nodiscard]] Bytes at(std::uint64_t address, std::uint64_t size) const;
  /// The bytes of a structure of `size` bytes without its last 4, which must be the checksum of those before them.
  [[nodiscard]] Bytes checked(std::uint64_t address, std::uint64_t size) const;

 private:
  Bytes file_;
  std::uint64_t root_ = undefined_address;
};

}  // namespace tessera::hdf5
