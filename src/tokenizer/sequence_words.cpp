#include <algorithm>
#include <span>

#include "tokenizer/categories.hpp"
#include "tokenizer/word_parts.hpp"
#include "tokenizer/words.hpp"

namespace tessera {
namespace {

struct Range {
  char32_t first = 0, last = 0;
};

/// Letters that have a case, as a list of one version of Unicode has them.
constexpr Range cased_letters[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xB5, 0xB5},       {0xC0, 0xD6},       {0xD8, 0xF6},
    {0xF8, 0x1BA},      {0x1BC, 0x1BF},     {0x1C4, 0x293},     {0x295, 0x2AF},     {0x370, 0x373},
    {0x376, 0x377},     {0x37B, 0x37D},     {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x38A},
    {0x38C, 0x38C},     {0x38E, 0x3A1},     {0x3A3, 0x3F5},     {0x3F7, 0x481},     {0x48A, 0x52F},
    {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},   {0x13F8, 0x13FD},   {0x1C90, 0x1CBA},
    {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},   {0x1D6B, 0x1D77},   {0x1D79, 0x1D9A},   {0x1E00, 0x1F15},
    {0x1F18, 0x1F1D},   {0x1F20, 0x1F45},   {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},   {0x1F59, 0x1F59},
    {0x1F5B, 0x1F5B},   {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},   {0x1FB6, 0x1FBC},
    {0x1FBE, 0x1FBE},   {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},   {0x1FD0, 0x1FD3},   {0x1FD6, 0x1FDB},
    {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},   {0x1FF6, 0x1FFC},   {0x2102, 0x2102},   {0x2107, 0x2107},
    {0x210A, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211D},   {0x2124, 0x2124},   {0x2126, 0x2126},
    {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},   {0x213C, 0x213F},
    {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2184},   {0x2C00, 0x2C7B},   {0x2C7E, 0x2CE4},
    {0x2CEB, 0x2CEE},   {0x2CF2, 0x2CF3},   {0xA640, 0xA66D},   {0xA680, 0xA69B},   {0xA722, 0xA76F},
    {0xA771, 0xA787},   {0xA78B, 0xA78E},   {0xAB70, 0xABBF},   {0xFB00, 0xFB06},   {0xFB13, 0xFB17},
    {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},   {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB},
    {0x10C80, 0x10CB2}, {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943}};
constexpr Range common_punctuation[] = {{'!', '/'},       {':', '~'},       {0x2018, 0x201F},
                                        {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E}};
constexpr Range wide_letters[] = {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}};
constexpr Range han_and_kana[] = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}};

bool is_in_ranges(char32_t code, std::span<const Range> ranges) {
  const auto found = std::ranges::lower_bound(ranges, code, {}, &Range::last);
  return found != ranges.end() && found->first <= code;
}

bool is_space(char32_t code) { return kind_of(code) == CharacterKind::space; }

bool is_ascii_letter(char32_t code) { return (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z'); }

bool is_ascii_punctuation(char32_t code) {
  return code > ' ' && code < 0x7F && !is_ascii_letter(code) && !(code >= '0' && code <= '9');
}

/// One character for which `begins` holds, if there is one, then at least one for which `belongs` does; 0 if that does
/// not fit. A first one that belongs may be the one that begins or not: the words are the same.
template <class Begins, class Belongs>
std::size_t led_run(std::string_view text, Begins&& begins, Belongs&& belongs) {
  const Character first = first_character(text);
  const std::size_t led = begins(first.code) ? run_while(text.substr(first.length), belongs).length : 0;
  return led != 0 ? first.length + led : run_while(text, belongs).length;
}

using Words = std::vector<std::string_view>;

Words isolate_runs(const Words& texts, std::span<const Range> ranges) {
  return isolate(texts, [&](std::string_view rest) {
    return run_while(rest, [&](char32_t code) { return is_in_ranges(code, ranges); }).length;
  });
}

Words isolate_led_ranges(const Words& texts, std::span<const Range> ranges) {
  return isolate(texts, [&](std::string_view rest) {
    return led_run(rest, is_space, [&](char32_t code) { return is_in_ranges(code, ranges); });
  });
}

Words isolate_led(const Words& texts, std::uint32_t categories) {
  return isolate(texts, [&](std::string_view rest) {
    return led_run(rest, is_space, [&](char32_t code) { return is_in(code, categories); });
  });
}

Words isolate_numbers(const Words& texts, std::size_t most) {
  return isolate(texts, [&](std::string_view rest) { return numbers_length(rest, most); });
}

Words isolate_line_ends(std::string_view text) {
  return isolate({text}, [](std::string_view rest) { return is_line_end(first_character(rest).code) ? 1U : 0U; });
}

/// White space at the end of each text becomes a word.
Words isolate_last_spaces(const Words& texts) {
  Words words;
  for (const std::string_view text : texts) {
    std::size_t end = 0;  // of what comes before
    for (std::size_t place = 0; place < text.size();) {
      const Character next = first_character(text.substr(place));
      place += next.length;
      end = is_space(next.code) ? end : place;
    }
    for (const std::string_view part : {text.substr(0, end), text.substr(end)}) {
      if (!part.empty()) {
        words.push_back(part);
      }
    }
  }
  return words;
}

/// The last of DeepSeek V3's patterns, 0 if it does not fit.
std::size_t deepseek_v3_word(std::string_view text) {
  const Character first = first_character(text);
  if (is_ascii_punctuation(first.code)) {
    if (const Run run = run_while(text.substr(1), is_ascii_letter); run.length != 0) {
      return 1 + run.length;
    }
  }
  const auto begins = [](char32_t code) { return !is_line_end(code) && !is_in(code, letters | punctuation | symbols); };
  if (const std::size_t run = led_run(text, begins, [](char32_t code) { return is_in(code, letters | marks); })) {
    return run;
  }
  const std::size_t run = led_run(
      text, [](char32_t code) { return code == ' '; },
      [](char32_t code) { return is_in(code, punctuation | symbols); });
  return run != 0 ? run + run_while(text.substr(run), is_line_end).length : lines_length(text);
}

bool belongs_to_bloom(char32_t code) {
  constexpr std::u32string_view apart = U"(|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)";
  return !is_space(code) && apart.find(code) == std::u32string_view::npos;
}

}  // namespace

Words deepseek_llm_words(std::string_view text) {
  Words words = isolate_led_ranges(isolate_line_ends(text), cased_letters);
  words = isolate_last_spaces(isolate_led_ranges(words, common_punctuation));
  return isolate_numbers(isolate_runs(words, wide_letters), 1);
}

Words deepseek_coder_words(std::string_view text) {
  const Words words = isolate_led(isolate_led(isolate_line_ends(text), letters), punctuation);
  return isolate_numbers(isolate_runs(words, wide_letters), 1);
}

Words deepseek_v3_words(std::string_view text) {
  return isolate(isolate_runs(isolate_numbers({text}, 3), han_and_kana), deepseek_v3_word);
}

Words bloom_words(std::string_view text) {
  return isolate({text}, [](std::string_view rest) {
    return led_run(
        rest, [](char32_t code) { return code == ' '; }, belongs_to_bloom);
  });
}

Words viking_words(std::string_view text) { return isolate_numbers(bloom_words(text), 1); }

}  // namespace tessera
