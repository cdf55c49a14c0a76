#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tokenizer/decode.hpp"

namespace tessera::cli {

/// A text that grows, as far as it is certain: a character may still be in the making.
class GrowingText {
 public:
  explicit GrowingText(const TokenizerData& tokenizer) : tokenizer_(tokenizer) {}

  /// What has come to it with these ids, which go on from those before; `whole`: nothing follows.
  std::string more(std::span<const std::uint32_t> ids, bool whole) {
    const std::string text = decode(tokenizer_, ids);
    const std::string_view rest = std::string_view(text).substr(std::min(written_, text.size()));
    const std::string_view now = rest.substr(0, whole ? rest.size() : complete(rest));
    written_ += now.size();
    return std::string(now);
  }

 private:
  /// Bytes up to the last character, if that is cut.
  static std::size_t complete(std::string_view text) {
    constexpr std::size_t longest = 4;
    for (std::size_t back = 1; back <= std::min(longest, text.size()); ++back) {
      const auto byte = static_cast<unsigned char>(text[text.size() - back]);
      if ((byte & 0xC0U) != 0x80U) {  // where a character begins
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return length > back ? text.size() - back : text.size();
      }
    }
    return text.size();
  }

  const TokenizerData& tokenizer_;
  std::size_t written_ = 0;
};

}  // namespace tessera::cli
