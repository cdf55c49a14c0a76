#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Unicode's canonical composition of the well-formed stretches of a text, each for itself; other bytes stay.
/// O(n log n): marks are sorted, however many follow each other.
std::string nfc(std::string_view text);

/// Unicode's canonical composition after compatibility forms are taken apart, of the well-formed stretches of a text,
/// each for itself; other bytes stay. O(n log n).
std::string nfkc(std::string_view text);

/// SentencePiece's mark for a space, U+2581, becomes one.
std::string marks_to_spaces(std::string_view text);

/// Bytes of `text` up to the first that belongs to no well-formed character.
std::size_t well_formed_length(std::string_view text);

}  // namespace tessera
