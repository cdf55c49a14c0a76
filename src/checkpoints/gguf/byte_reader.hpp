#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/little_endian.hpp"
#include "checkpoints/input_file.hpp"

namespace tessera {

/// Reads the beginning of a file from front to back. `what` of its functions is the field, for messages: all refusals
/// are InputErrors that name file, field, expected and found. Nothing is allocated beyond what is left of the file.
class ByteReader {
 public:
  /// Reads the first `limit` bytes of a file, or all if it has less.
  ByteReader(const InputFile& file, std::uint64_t limit);

  /// Little-endian.
  template <class T>
  T number(const std::string& what) {
    std::uint8_t bytes[sizeof(T)];
    take(bytes, what);
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      return std::bit_cast<T>(read_little_endian<Bits>(bytes));
    } else {
      return read_little_endian<T>(bytes);
    }
  }
  /// The number of things of at least `bytes` bytes each that follow, at most `most`.
  std::uint64_t count(const std::string& what, std::uint64_t bytes, std::uint64_t most);
  /// A length (uint64), then so many bytes, which must be UTF-8.
  std::string text(const std::string& what, std::uint64_t most);
  void skip(std::uint64_t bytes, const std::string& what);

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[noreturn]] void refuse(const std::string& what, const std::string& expected, const std::string& found) const;

 private:
  void take(std::span<std::uint8_t> bytes, const std::string& what);
  void require(std::uint64_t bytes, const std::string& what) const;

  const InputFile& file_;
  std::uint64_t end_ = 0, position_ = 0;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t buffer_begin_ = 0;
};

}  // namespace tessera
