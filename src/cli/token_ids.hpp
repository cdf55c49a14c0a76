#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace tessera::cli {

/// Token ids of at most 9 digits each, separated by commas; an empty text has none. Throws InputError for another text.
inline std::vector<std::uint32_t> ids_of(std::string_view text) {
  std::vector<std::uint32_t> ids;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string number(text.substr(begin, end - begin));
    if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos) {
      throw InputError("expected token ids separated by commas, found " + quoted_name(text));
    }
    ids.push_back(static_cast<std::uint32_t>(std::stoul(number)));
    begin = end + 1;
  }
  return ids;
}

/// Whether somebody may have meant ids by a text: digits and commas alone. It is a text all the same, and who takes it
/// for one says so.
inline bool looks_like_ids(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,") == std::string_view::npos;
}

}  // namespace tessera::cli
