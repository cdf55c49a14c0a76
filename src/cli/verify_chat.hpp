#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/key.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {

/// "311 bytes, BLAKE2s-256 0123..." or "none", for people.
std::string chat_text(const ChatTemplate& chat);

/// What the renderer is told of a tokenizer with a template, a JSON object: template, tokens, special, added.
std::string chat_request(const TokenizerData& tokenizer);

/// The ids that messages, as a JSON text, stand for under the tokenizer's chat template, with the prompt for an answer
/// behind them: added tokens are the template's alone, contents stay text. `before`: they follow an answer that ended
/// with this token, and only what stands behind it is rendered. A process of `python` renders (package tessera, part
/// chat). Throws InputError for what cannot be rendered.
std::vector<std::uint32_t> ids_of_message_text(const Tokenizer& tokenizer, const std::string& messages,
                                               std::optional<std::uint32_t> before, const std::string& python);

/// The ids of the messages of a file, rendered by the python3 in the path or the one that TESSERA_PYTHON names. Throws
/// InputError naming the file.
std::vector<std::uint32_t> ids_of_messages(const Tokenizer& tokenizer, const std::string& path,
                                           std::optional<std::uint32_t> before);

/// Ids by turns, a line each: an added token as it is written, then the text behind it in quotes.
std::vector<std::string> turns_of(const TokenizerData& tokenizer, const std::vector<std::uint32_t>& ids);

}  // namespace tessera::cli
