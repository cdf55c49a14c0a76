#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// Bytes behind a token of vocab.json or merges.txt: GPT-2 writes bytes 33..126, 161..172, 174..255 as the code points
/// of the same number and the other 68, in ascending order, as code points 256, 257, ... Empty if `symbols` has any
/// other character or is not UTF-8.
std::optional<std::string> bytes_of_symbols(std::string_view symbols);

}  // namespace tessera
