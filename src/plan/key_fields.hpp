#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bits.hpp"
#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "hash/blake2s.hpp"
#include "parameters/table.hpp"
#include "plan/limits.hpp"
#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

[[noreturn]] inline void refuse_key(std::string_view field, const std::string& expected, const std::string& found) {
  throw InputError("verifying key: " + std::string(field) + ": expected " + expected + ", found " + found);
}

/// Names of tokenizer_models(), and of those whose added tokens take white space along, which is more than a model.
inline constexpr std::string_view tokenizer_kinds[] = {
    "byte-level BPE",
    "byte-level BPE with added tokens",
    "BPE with byte fallback",
    "BPE with byte fallback and ties",
    "byte-level BPE with added tokens, some with the space beside them",
    "BPE with byte fallback, some with the space beside them",
    "BPE with byte fallback and ties, some with the space beside them"};
inline constexpr std::size_t stripping = 3;  // places from a model to the same with such tokens

/// Appends little-endian fields.
class KeyEncoder {
 public:
  template <class T>
  void number(std::string_view /*field*/, T value) {
    append_little_endian(bytes, value);
  }
  void word(std::string_view /*field*/, std::string_view value) { string(value); }
  void count(std::string_view /*section*/, std::uint32_t entries) { append_little_endian(bytes, entries); }
  template <class T>
  void named(std::string_view name, T value) {
    string(name);
    append_little_endian(bytes, value);
  }
  /// Writes a size in 8 bytes, however many the machine's sizes have.
  void size(std::string_view name, std::size_t value) { named(name, std::uint64_t{value}); }
  void flag(std::string_view name, bool value) { named(name, static_cast<std::uint8_t>(value)); }
  template <class T>
  void table(std::string_view name, const std::vector<T>& values, std::uint32_t /*log_rows*/) {
    string(name);
    append_little_endian(bytes, ceil_log2(values.size()));
    append_little_endian(bytes, static_cast<std::uint32_t>(sizeof(T)));
    append_little_endian(bytes, values);
  }
  template <class T>
  void list(std::string_view name, const std::vector<T>& values, std::size_t /*expected*/) {
    string(name);
    append_little_endian<std::uint64_t>(bytes, values.size());
    append_little_endian(bytes, values);
  }
  void text(std::string_view /*field*/, const std::string& value, std::string_view /*limit*/) { string(value); }
  void strings(std::string_view /*field*/, const std::vector<std::string>& values, std::size_t /*expected*/) {
    append_little_endian<std::uint64_t>(bytes, values.size());
    for (const std::string& value : values) {
      string(value);
    }
  }
  void merges(std::string_view /*field*/, const std::vector<Merge>& values) {
    append_little_endian<std::uint64_t>(bytes, values.size());
    for (const Merge& merge : values) {
      append_little_endian(bytes, merge.left);
      append_little_endian(bytes, merge.right);
    }
  }
  /// Whether optional fields follow: `has` says it of what is written.
  [[nodiscard]] static bool more(bool has) { return has; }
  /// Whether an optional field of this name follows.
  [[nodiscard]] static bool next(std::string_view /*name*/, bool has) { return has; }
  static void require(std::string_view /*field*/, bool /*holds*/, const char* /*expected*/, const char* /*found*/) {}
  template <class Enum>
  void choice(std::string_view /*field*/, Enum value, std::span<const std::string_view> names) {
    string(names[static_cast<std::size_t>(value)]);
  }
  /// The model, and with it whether lists of the tokens that strip follow, which is returned.
  bool tokenizer_kind(std::string_view /*field*/, TokenizerModel model, bool strip) {
    string(tokenizer_kinds[static_cast<std::size_t>(model) + (strip ? stripping : 0)]);
    return strip;
  }
  void ids(std::string_view /*field*/, const std::vector<std::uint32_t>& values, std::string_view /*limit*/) {
    append_little_endian<std::uint64_t>(bytes, values.size());
    append_little_endian(bytes, values);
  }
  void digest(std::string_view /*field*/, const Digest& value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
  }

  std::vector<std::uint8_t> bytes;

 private:
  void string(std::string_view value) {
    append_little_endian(bytes, static_cast<std::uint32_t>(value.size()));
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
};

/// Takes little-endian fields; names and lengths are the expected ones or bounded before anything is allocated.
class KeyDecoder {
 public:
  explicit KeyDecoder(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  void number(std::string_view field, T& value) {
    value = read_little_endian<T>(take(field, sizeof(T)).data());
  }
  void word(std::string_view field, std::string_view expected) {
    const std::string found = string(field);
    if (found != expected) {
      refuse_key(field, std::string(expected), quoted_name(found));
    }
  }
  void count(std::string_view section, std::uint32_t entries) { expect(section, "entries", entries); }
  template <class T>
  void named(std::string_view name, T& value) {
    word(name, name);
    number(name, value);
  }
  void size(std::string_view name, std::size_t& value) {
    std::uint64_t found = 0;
    named(name, found);
    constexpr std::uint64_t most = std::numeric_limits<std::size_t>::max();  // beyond every limit
    value = static_cast<std::size_t>(std::min(found, most));
  }
  void flag(std::string_view name, bool& value) {
    std::uint8_t found = 0;
    named(name, found);
    if (found > 1) {
      refuse_key(name, "0 or 1", std::to_string(found));
    }
    value = found == 1;
  }
  template <class T>
  void table(std::string_view name, std::vector<T>& values, std::uint32_t log_rows) {
    word(name, name);
    expect(name, "as log2 of its rows", log_rows);
    expect(name, "bytes an entry", sizeof(T));
    numbers(name, values, std::size_t{1} << log_rows);
  }
  template <class T>
  void list(std::string_view name, std::vector<T>& values, std::size_t expected) {
    word(name, name);
    if (const std::size_t found = length(name, sizeof(T)); found != expected) {
      refuse_key(name, std::to_string(expected) + " entries", std::to_string(found));
    }
    numbers(name, values, expected);
  }
  void text(std::string_view field, std::string& value, std::string_view limit_name) {
    value = string(field, limit_of(limit_name));
  }
  void strings(std::string_view field, std::vector<std::string>& values, std::size_t expected) {
    if (const std::size_t found = length(field, sizeof(std::uint32_t)); found != expected) {
      refuse_key(field, std::to_string(expected) + " entries", std::to_string(found));
    }
    values.resize(expected);
    std::size_t total = 0;
    for (std::string& value : values) {
      const std::span<const std::uint8_t> bytes = string_bytes(field, token_bytes_);
      value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      total += value.size();
    }
    limit("vocabulary bytes", total, field);
  }
  void merges(std::string_view field, std::vector<Merge>& values) {
    const std::size_t found = length(field, sizeof(Merge));
    limit("merges", found, field);
    const std::span<const std::uint8_t> bytes = take(field, found * sizeof(Merge));
    values.resize(found);
    for (std::size_t i = 0; i < found; ++i) {
      const std::uint8_t* const merge = bytes.data() + i * sizeof(Merge);
      values[i] = {read_little_endian<std::uint32_t>(merge), read_little_endian<std::uint32_t>(merge + 4)};
    }
  }
  [[nodiscard]] bool more(bool /*has*/) const { return !rest_.empty(); }
  [[nodiscard]] bool next(std::string_view name, bool /*has*/) const {
    constexpr std::size_t length = sizeof(std::uint32_t);
    return rest_.size() >= length + name.size() && read_little_endian<std::uint32_t>(rest_.data()) == name.size() &&
           std::equal(name.begin(), name.end(), rest_.begin() + length);
  }
  static void require(std::string_view field, bool holds, const char* expected, const char* found) {
    if (!holds) {
      refuse_key(field, expected, found);
    }
  }
  template <class Enum>
  void choice(std::string_view field, Enum& value, std::span<const std::string_view> names) {
    const std::string found = string(field);
    const auto place = std::ranges::find(names, found);
    if (place == names.end()) {
      std::string expected;
      for (std::size_t i = names.size(); i-- > 0;) {
        expected += std::string(names[i]) + (i > 1 ? ", " : i == 1 ? " or " : "");
      }
      refuse_key(field, expected, quoted_name(found));
    }
    value = static_cast<Enum>(place - names.begin());
  }
  bool tokenizer_kind(std::string_view field, TokenizerModel& model, bool /*strip*/) {
    std::uint8_t kind = 0;
    choice(field, kind, tokenizer_kinds);
    const bool strip = kind >= tokenizer_models().size();
    model = static_cast<TokenizerModel>(kind - (strip ? stripping : 0));
    return strip;
  }
  void ids(std::string_view field, std::vector<std::uint32_t>& values, std::string_view limit_name) {
    const std::size_t found = length(field, sizeof(std::uint32_t));
    limit(limit_name, found, field);
    numbers(field, values, found);
  }
  void digest(std::string_view field, Digest& value) { std::ranges::copy(take(field, value.size()), value.begin()); }
  void finish() const {
    if (!rest_.empty()) {
      refuse_key("end", "no further bytes", std::to_string(rest_.size()));
    }
  }

 private:
  std::span<const std::uint8_t> take(std::string_view field, std::size_t size) {
    if (rest_.size() < size) {
      refuse_key(field, std::to_string(size) + " bytes", std::to_string(rest_.size()));
    }
    const std::span<const std::uint8_t> bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  void expect(std::string_view field, const std::string& what, std::uint32_t expected) {
    std::uint32_t found = 0;
    number(field, found);
    if (found != expected) {
      refuse_key(field, std::to_string(expected) + " " + what, std::to_string(found));
    }
  }
  std::string string(std::string_view field) { return string(field, token_bytes_); }
  std::string string(std::string_view field, const Limit& most) {
    const std::span<const std::uint8_t> bytes = string_bytes(field, most);
    return {bytes.begin(), bytes.end()};
  }
  std::span<const std::uint8_t> string_bytes(std::string_view field, const Limit& most) {
    std::uint32_t size = 0;
    number(field, size);
    limit(most, size, field);
    return take(field, size);
  }
  template <class T>
  void numbers(std::string_view field, std::vector<T>& values, std::size_t count) {
    const std::span<const std::uint8_t> bytes = take(field, count * sizeof(T));
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = read_little_endian<T>(bytes.data() + i * sizeof(T));
    }
  }
  /// The length of a list whose entries take `least` bytes or more.
  std::size_t length(std::string_view field, std::size_t least) {
    std::uint64_t found = 0;
    number(field, found);
    if (rest_.size() / least < found) {
      refuse_key(field, "at most " + std::to_string(rest_.size() / least) + " entries", std::to_string(found));
    }
    return static_cast<std::size_t>(found);
  }
  static void limit(std::string_view name, std::uint64_t value, std::string_view field) {
    limit(limit_of(name), value, field);
  }
  static void limit(const Limit& allowed, std::uint64_t value, std::string_view field) {
    if (!allowed.allows(value)) {
      refuse_limit(allowed, std::to_string(value),
                   "verifying key: " + std::string(field) + ": " + std::string(allowed.name));
    }
  }
  std::span<const std::uint8_t> rest_;
  const Limit& token_bytes_ = limit_of("token bytes");  // found once, not for every token
};

}  // namespace tessera
