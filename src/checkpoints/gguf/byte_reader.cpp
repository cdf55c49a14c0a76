#include "checkpoints/gguf/byte_reader.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "tokenizer/normalize.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t buffer_bytes = 1U << 18U;

}  // namespace

ByteReader::ByteReader(const InputFile& file, std::uint64_t limit) : file_(file), end_(std::min(limit, file.size())) {}

std::uint64_t ByteReader::count(const std::string& what, std::uint64_t bytes, std::uint64_t most) {
  const auto found = number<std::uint64_t>(what);
  const std::uint64_t room = std::min(most, (end_ - position_) / bytes);
  if (found > room) {
    refuse(what, "at most " + std::to_string(room), std::to_string(found));
  }
  return found;
}

std::string ByteReader::text(const std::string& what, std::uint64_t most) {
  const std::uint64_t length = count(what + ": length", 1, most);
  std::string text(length, '\0');
  take({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, what);
  if (well_formed_length(text) != text.size()) {
    refuse(what, "UTF-8", quoted_name(text));
  }
  return text;
}

void ByteReader::skip(std::uint64_t bytes, const std::string& what) {
  require(bytes, what);
  position_ += bytes;
}

void ByteReader::refuse(const std::string& what, const std::string& expected, const std::string& found) const {
  throw InputError(file_.name() + ": " + what + ": expected " + expected + ", found " + found);
}

void ByteReader::require(std::uint64_t bytes, const std::string& what) const {
  if (bytes > end_ - position_) {
    refuse(what, std::to_string(bytes) + " bytes at " + std::to_string(position_),
           "the end of the " + std::string(end_ < file_.size() ? "header" : "file") + " at " + std::to_string(end_));
  }
}

void ByteReader::take(std::span<std::uint8_t> bytes, const std::string& what) {
  require(bytes.size(), what);
  while (!bytes.empty()) {
    if (position_ < buffer_begin_ || position_ >= buffer_begin_ + buffer_.size()) {
      buffer_.resize(std::min(buffer_bytes, end_ - position_));
      buffer_begin_ = position_;
      if (!file_.read(position_, buffer_)) {
        throw InputError(file_.name() + ": " + what + ": cannot be read");
      }
    }
    const std::uint64_t begin = position_ - buffer_begin_;
    const std::uint64_t size = std::min<std::uint64_t>(bytes.size(), buffer_.size() - begin);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin), size, bytes.begin());
    position_ += size;
    bytes = bytes.subspan(size);
  }
}

}  // namespace tessera
