/// \file
/// Prints what the verifier finds of every character of Unicode, a number for every 256 of them: kinds, how they are
/// shown, their compositions with and without compatibility. The module's tables are smaller than the library's and
/// must say the same.

#include <utf8proc.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "tokenizer/normalize.hpp"

namespace {

constexpr utf8proc_int32_t code_points = 0x110000;
constexpr utf8proc_int32_t block_size = 0x100;

std::string encoded(utf8proc_int32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(code, bytes.data());
  return {bytes.begin(), bytes.begin() + length};
}

/// FNV-1a of the texts so far.
class Sum {
 public:
  void add(const std::string& text) {
    for (const char byte : text) {
      sum_ = (sum_ ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
    }
    sum_ = (sum_ ^ 0xFF) * 0x100000001b3;  // in no text
  }
  unsigned long long value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325;
};

/// First and second characters of all canonical decompositions.
struct Parts {
  std::set<utf8proc_int32_t> first, second;
};

Parts all_parts() {
  Parts parts;
  constexpr auto canonical = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  for (utf8proc_int32_t code = 0; code < code_points; ++code) {
    std::array<utf8proc_int32_t, 8> into{};
    int border = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(code, into.data(), into.size(), canonical, &border);
    for (utf8proc_ssize_t i = 0; count > 1 && i + 1 < count; ++i) {
      parts.first.insert(into[static_cast<std::size_t>(i)]);
      parts.second.insert(into[static_cast<std::size_t>(i + 1)]);
    }
  }
  return parts;
}

}  // namespace

int main() {
  const std::vector<std::string> around = {"", "\u0301", "a\u0315", "\u0334", "\u1161"};
  for (utf8proc_int32_t block = 0; block < code_points; block += block_size) {
    Sum sum;
    for (utf8proc_int32_t code = block; code < block + block_size; ++code) {
      const std::string text = encoded(code);
      sum.add(std::to_string(static_cast<int>(tessera::kind_of(static_cast<char32_t>(code)))));
      sum.add(tessera::printable(text));
      sum.add(tessera::printable("a" + text));
      for (const std::string& other : around) {
        sum.add(tessera::nfc(text + other));
        sum.add(tessera::nfc(other + text));
        sum.add(tessera::nfkc(text + other));
      }
    }
    std::printf("U+%04X %016llx\n", static_cast<unsigned>(block), sum.value());
  }
  const Parts parts = all_parts();
  Sum sum;
  for (const utf8proc_int32_t first : parts.first) {
    for (const utf8proc_int32_t second : parts.second) {
      sum.add(tessera::nfc(encoded(first) + encoded(second)));
    }
  }
  std::printf("%zu x %zu pairs %016llx\n", parts.first.size(), parts.second.size(), sum.value());
}
