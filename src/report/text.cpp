#include "report/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/text.hpp"
#include "base/units.hpp"

namespace tessera::report {
namespace {

constexpr const char* dash = "–";
/// What stands for characters that do not show in printable().
View mark_of(std::string_view escape) {
  const bool byte = escape.starts_with("\\x");
  std::string digits(byte ? escape.substr(2) : escape.substr(3, escape.size() - 4));
  digits.insert(0, byte || digits.size() >= 4 ? 0 : 4 - digits.size(), '0');
  for (char& digit : digits) {
    digit = digit >= 'a' ? static_cast<char>(digit - 'a' + 'A') : digit;
  }
  return {{"plain", false},
          {"line", false},
          {"mark", (byte ? "0x" : "U+") + digits},
          {"says", byte ? "a byte that belongs to no character" : "a character that does not show"}};
}

constexpr double most_number = 1e12;  // beyond all seconds, bytes and bits that anything has

}  // namespace

std::string shown(std::string_view text, std::size_t most) { return printable(text, most); }

View pieces(std::string_view text, std::size_t most) {
  const std::string shown_text = printable(text, most);
  const std::string_view all = shown_text;
  View result = View::array();
  std::string plain;
  const auto add = [&](View piece) {
    if (!plain.empty()) {
      result.push_back({{"plain", plain}, {"line", false}, {"mark", false}});
      plain.clear();
    }
    if (!piece.is_null()) {
      result.push_back(std::move(piece));
    }
  };
  for (std::size_t at = 0; at < all.size();) {
    const char next = all[at] == '\\' ? all[at + 1] : '\0';  // a backslash never stands alone
    if (next == 'n') {
      add({{"plain", false}, {"line", true}, {"mark", false}});
      at += 2;
    } else if (next == 'u' || next == 'x') {
      const std::size_t end = next == 'x' ? at + 4 : all.find('}', at) + 1;
      add(mark_of(all.substr(at, end - at)));
      at = end;
    } else {
      at += next == '\0' ? 0 : 1;
      plain += all[at++];
    }
  }
  add({});
  return result;
}

std::string readable(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (result.size() >= most) {
      return result + "...";
    }
    result += begin == 0 ? "" : "\n";
    result += one_line(text.substr(begin, end - begin), most - std::min(most, result.size()));
    begin = end + 1;
  }
  return result;
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string fixed(double value, int digits) {
  if (!(std::abs(value) < most_number)) {
    return dash;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string duration(double seconds) {
  if (!(seconds >= 0)) {
    return dash;
  }
  return seconds < 0.1 ? fixed(1000 * seconds, 0) + " ms" : fixed(seconds, seconds < 10 ? 2 : 1) + " s";
}

std::string mebibytes(std::uint64_t bytes) {
  return bytes == 0 ? dash : fixed(static_cast<double>(bytes) / mebibyte, 1);
}

std::string share(double part, double whole) { return whole > 0 ? fixed(100 * part / whole, 1) + " %" : dash; }

std::string count_of(std::uint64_t count, std::string_view thing) {
  return grouped(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace tessera::report
