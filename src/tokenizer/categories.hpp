#pragma once

#include <utf8proc.h>

#include <cstdint>

namespace tessera {

/// Sets of Unicode's general categories, a bit for each of the library's numbers.
enum Categories : std::uint32_t {
  upper_letters = 1U << UTF8PROC_CATEGORY_LU,
  lower_letters = 1U << UTF8PROC_CATEGORY_LL,
  title_letters = 1U << UTF8PROC_CATEGORY_LT,
  other_letters = 1U << UTF8PROC_CATEGORY_LM | 1U << UTF8PROC_CATEGORY_LO,
  letters = upper_letters | lower_letters | title_letters | other_letters,
  marks = 1U << UTF8PROC_CATEGORY_MN | 1U << UTF8PROC_CATEGORY_MC | 1U << UTF8PROC_CATEGORY_ME,
  numbers = 1U << UTF8PROC_CATEGORY_ND | 1U << UTF8PROC_CATEGORY_NL | 1U << UTF8PROC_CATEGORY_NO,
  punctuation = 1U << UTF8PROC_CATEGORY_PC | 1U << UTF8PROC_CATEGORY_PD | 1U << UTF8PROC_CATEGORY_PS |
                1U << UTF8PROC_CATEGORY_PE | 1U << UTF8PROC_CATEGORY_PI | 1U << UTF8PROC_CATEGORY_PF |
                1U << UTF8PROC_CATEGORY_PO,
  symbols =
      1U << UTF8PROC_CATEGORY_SM | 1U << UTF8PROC_CATEGORY_SC | 1U << UTF8PROC_CATEGORY_SK | 1U << UTF8PROC_CATEGORY_SO
};

inline bool is_in(char32_t code, std::uint32_t categories) {
  return (categories >> utf8proc_category(static_cast<utf8proc_int32_t>(code)) & 1U) != 0;
}

}  // namespace tessera
