#include "model/pre_tokenizer.hpp"

#include <cassert>
#include <stdexcept>

namespace tessera {
namespace {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ with \s spelled out as Unicode
// White_Space: PCRE2's own \s has one character more (U+180E). No word backtracks into another, hence the possessive
// quantifiers.
#define TESSERA_SPACE \
  R"(\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})"
constexpr std::string_view pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}++| ?\p{N}++| ?[^\p{L}\p{N})" TESSERA_SPACE R"(]++|[)" TESSERA_SPACE
    R"(]+(?![^)" TESSERA_SPACE R"(])|[)" TESSERA_SPACE R"(]++)";
#undef TESSERA_SPACE

}  // namespace

Tokenizer::PreTokenizer::PreTokenizer() {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error,
                            &offset, nullptr));
  assert(code_ != nullptr);
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // where there is no JIT, matching is interpreted
}

std::vector<std::string_view> Tokenizer::PreTokenizer::words(std::string_view text) const {
  const std::unique_ptr<pcre2_match_data, Free> match(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), begin,
                                  PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    if (found < 0 || ends[0] != begin || ends[1] <= begin) {  // every character begins some word, so only a resource
                                                              // limit gets here (and ANCHORED would switch JIT off)
      throw std::runtime_error("pre-tokenization failed at byte " + std::to_string(begin) + ", PCRE2 error " +
                               std::to_string(found));
    }
    words.push_back(text.substr(begin, ends[1] - begin));
    begin = ends[1];
  }
  return words;
}

}  // namespace tessera
