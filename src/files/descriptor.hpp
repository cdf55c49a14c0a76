#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// An open file, directory or end of a pipe, or none, which is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  /// Opens; what it makes is its owner's alone. Throws InputError.
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = other.release();
    return *this;
  }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  void close() noexcept;
  /// Gives it away: it stays open.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// Reads bytes of a file from its byte `offset` on; empty, or why they cannot be read.
std::string read_all(int from, std::uint64_t offset, std::span<std::byte> bytes);
/// False, with errno, if not all bytes can be written.
bool write_all(int to, std::span<const std::uint8_t> bytes);
bool write_all(int to, std::string_view bytes);

}  // namespace tessera
