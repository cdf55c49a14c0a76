#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// Length of the well-formed UTF-8 character at the beginning of `text`, 0 if there is none (Unicode table 3-7).
std::size_t utf8_length(std::string_view text);

/// Bytes behind a token of vocab.json or merges.txt: GPT-2 writes bytes 33..126, 161..172, 174..255 as the code points
/// of the same number and the other 68, in ascending order, as code points 256, 257, ... Empty if `symbols` has any
/// other character or is not UTF-8.
std::optional<std::string> bytes_of_symbols(std::string_view symbols);

}  // namespace tessera
