#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>
#include "base/errors.hpp"

namespace tessera {

// What a process that reads a stranger's file hands to the one that asked for it: numbers as they stand in memory, and
// lists of them behind their length.

inline void append_bytes(std::vector<std::uint8_t>& bytes, const void* data, std::size_t size) {
  const std::size_t end = bytes.size();
  bytes.resize(end + size);
  if (size != 0) {
    std::memcpy(bytes.data() + end, data, size);
  }
}

/// Appends a list: how many values it has, then the values, which are numbers or the characters of a text.
template <class List>
void append_list(std::vector<std::uint8_t>& bytes, const List& values) {
  const std::uint64_t count = values.size();
  append_bytes(bytes, &count, sizeof count);
  append_bytes(bytes, values.data(), values.size() * sizeof *values.data());
}

/// Takes what was appended, in the same order. Lengths are checked, as a broken process may send anything: InputError.
class Taker {
 public:
  explicit Taker(std::span<const std::uint8_t> rest) : rest_(rest) {}

  void take(void* to, std::size_t size) {
    require(size <= rest_.size(), "fewer bytes");
    if (size != 0) {
      std::memcpy(to, rest_.data(), size);
    }
    rest_ = rest_.subspan(size);
  }
  template <class T>
  T number() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  template <class List>
  List list() {
    using T = typename List::value_type;
    const auto count = number<std::uint64_t>();
    require(count <= rest_.size() / sizeof(T), "fewer bytes");
    List values(static_cast<std::size_t>(count), T{});
    take(values.data(), values.size() * sizeof(T));
    return values;
  }
  std::span<const std::uint8_t> rest() const { return rest_; }
  void finish() const { require(rest_.empty(), "more bytes"); }

 private:
  static void require(bool good, const char* found) {
    if (!good) {
      throw InputError(std::string("expected a statement, a payload and a digest, found ") + found);
    }
  }
  std::span<const std::uint8_t> rest_;
};

}  // namespace tessera
