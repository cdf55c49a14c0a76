#include "tokenizer/added_tokens.hpp"

#include <algorithm>

namespace tessera {
namespace {

unsigned byte_at(const std::string& text, std::size_t place) { return static_cast<unsigned char>(text[place]); }

}  // namespace

AddedTokens::AddedTokens(std::vector<std::pair<std::string, std::uint32_t>> tokens) : tokens_(std::move(tokens)) {
  std::ranges::sort(tokens_);
  const auto twice = [](const auto& a, const auto& b) { return a.first == b.first; };
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), twice), tokens_.end());
  for (unsigned byte = 0; byte <= 256; ++byte) {
    const auto found =
        std::ranges::lower_bound(tokens_, byte, {}, [](const auto& token) { return byte_at(token.first, 0); });
    first_[byte] = static_cast<std::size_t>(found - tokens_.begin());
  }
}

const std::pair<std::string, std::uint32_t>* AddedTokens::at(std::string_view text) const {
  const auto first = static_cast<unsigned char>(text.front());
  auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(first_[first]);
  auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(first_[first + 1U]);
  const std::pair<std::string, std::uint32_t>* longest = nullptr;
  // [begin, end): those that begin with the first `length` bytes of the text; the one that is no longer comes first
  for (std::size_t length = 1; begin != end; ++length) {
    if (begin->first.size() == length) {
      longest = &*begin++;
    }
    if (length == text.size()) {
      break;
    }
    const auto next = static_cast<unsigned char>(text[length]);
    const auto byte = [&](const auto& token) { return byte_at(token.first, length); };
    if (begin == end || (byte(*begin) == next && byte(*(end - 1)) == next)) {
      continue;
    }
    begin = std::ranges::lower_bound(begin, end, next, {}, byte);
    end = std::ranges::upper_bound(begin, end, next, {}, byte);
  }
  return longest;
}

}  // namespace tessera
