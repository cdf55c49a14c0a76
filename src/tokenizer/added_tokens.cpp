#include "tokenizer/added_tokens.hpp"

#include <tuple>

#include "base/text.hpp"

namespace tessera {
namespace {

unsigned byte_at(const std::string& text, std::size_t place) { return static_cast<unsigned char>(text[place]); }

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, bool marks) : tokens_(std::move(tokens)), marks_(marks) {
  std::ranges::sort(tokens_, {}, [](const AddedToken& token) { return std::tie(token.text, token.id); });
  const auto twice = [](const AddedToken& a, const AddedToken& b) { return a.text == b.text; };
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), twice), tokens_.end());
  for (unsigned byte = 0; byte <= 256; ++byte) {
    const auto found =
        std::ranges::lower_bound(tokens_, byte, {}, [](const AddedToken& token) { return byte_at(token.text, 0); });
    first_[byte] = static_cast<std::size_t>(found - tokens_.begin());
  }
}

bool AddedTokens::is_space(char32_t code) const {
  return kind_of(code) == CharacterKind::space && !(marks_ && code == U' ');
}

std::size_t AddedTokens::space_begin(std::string_view whole, std::size_t least, std::size_t end) const {
  constexpr std::size_t longest = 4;  // bytes of a character
  while (least < end) {
    std::size_t begin = end - 1;
    while (begin > least && end - begin < longest && (static_cast<unsigned char>(whole[begin]) & 0xC0U) == 0x80) {
      --begin;
    }
    const Character last = first_character(whole.substr(begin, end - begin));
    if (last.length != end - begin || !is_space(last.code)) {
      break;
    }
    end = begin;
  }
  return end;
}

std::size_t AddedTokens::space_end(std::string_view whole, std::size_t begin) const {
  while (begin < whole.size()) {
    const Character next = first_character(whole.substr(begin));
    if (next.length == 0 || !is_space(next.code)) {
      break;
    }
    begin += next.length;
  }
  return begin;
}

const AddedToken* AddedTokens::at(std::string_view whole, std::size_t place, std::span<const std::size_t> marks) const {
  const auto marked = [&marks](std::size_t byte) { return std::ranges::binary_search(marks, byte); };
  if (marked(place)) {
    return nullptr;
  }
  const std::string_view text = whole.substr(place);
  const auto first = static_cast<unsigned char>(text.front());
  auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(first_[first]);
  auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(first_[first + 1U]);
  const AddedToken* longest = nullptr;
  // [begin, end): those that begin with the first `length` bytes of the text; the one that is no longer comes first
  for (std::size_t length = 1; begin != end; ++length) {
    if (begin->text.size() == length) {
      longest = marked(place + length - 1) ? longest : &*begin;
      ++begin;
    }
    if (length == text.size()) {
      break;
    }
    const auto next = static_cast<unsigned char>(text[length]);
    const auto byte = [&](const auto& token) { return byte_at(token.text, length); };
    if (begin == end || (byte(*begin) == next && byte(*(end - 1)) == next)) {
      continue;
    }
    begin = std::ranges::lower_bound(begin, end, next, {}, byte);
    end = std::ranges::upper_bound(begin, end, next, {}, byte);
  }
  return longest;
}

}  // namespace tessera
