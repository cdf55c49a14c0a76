#include "cli/verify_chat.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "files/program.hpp"
#include "hash/hex.hpp"
#include "plan/chat.hpp"
#include "plan/ends.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t most_messages = std::size_t{16} << 20U;  // bytes of a file
constexpr std::size_t most_answer = std::size_t{64} << 20U;    // bytes of the renderer's

/// What follows the place where a file stands, at most so many bytes. Throws InputError.
std::string contents(std::FILE* file, std::size_t most) {
  std::string text;
  std::array<char, 1U << 16U> block{};
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file)) {
    text.append(block.data(), count);
    if (text.size() > most) {
      throw InputError("expected at most " + counted(most, "byte") + ", found more");
    }
  }
  return text;
}

std::string read_messages(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) {
    throw InputError(std::string("cannot be read: ") + std::strerror(errno));
  }
  return contents(file.get(), most_messages);
}

std::string default_python() {
  const char* const name = std::getenv("TESSERA_PYTHON");
  return name == nullptr || *name == '\0' ? "python3" : name;
}

[[noreturn]] void refuse_renderer(const std::string& python, const std::string& found) {
  throw InputError(
      "chat templates are rendered by the Python package tessera with its part chat (pip install "
      "'tessera[chat]'): expected it of " +
      python + ", which TESSERA_PYTHON names, found " + found);
}

std::string last_line(std::string text) {
  text.resize(text.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

/// Runs the renderer. Throws InputError if there is no such program.
EndedProgram run_renderer(const std::string& python, const std::string& request) {
  // the working directory is no place for modules
  const std::string start =
      "import sys; sys.path[:] = [p for p in sys.path if p]; "
      "from tessera_chat.__main__ import main; main()";
  try {
    return run_program({python, "-c", start}, request);
  } catch (const std::system_error& error) {
    refuse_renderer(python, error.code().message());
  }
}

/// What the renderer says to a request; it limits itself. Its answer is a JSON object.
nlohmann::json answer_of_renderer(const std::string& python, const nlohmann::json& request) {
  const EndedProgram ended = run_renderer(python, request.dump());
  if (ended.end.signal() != 0) {
    throw InputError("chat template: expected one that is rendered in seconds, found one that takes longer or more");
  }
  nlohmann::json answer = nlohmann::json::parse(contents(ended.output.get(), most_answer), nullptr, false);
  if (!ended.end.good() || !answer.is_object()) {
    refuse_renderer(python, one_line(last_line(contents(ended.errors.get(), most_answer)), 200));
  }
  if (answer.contains("missing")) {
    refuse_renderer(python, "no " + one_line(answer["missing"].dump(), 80));
  }
  return answer;
}

/// What the renderer is told of a tokenizer.
nlohmann::json description_of(const TokenizerData& tokenizer) {
  const ChatTemplate& chat = tokenizer.chat;
  nlohmann::json tokens = nlohmann::json::object(), special = nlohmann::json::array(), added = special;
  for (std::size_t i = 0; i < chat.tokens.size(); ++i) {
    if (!chat.tokens[i].empty()) {
      tokens[std::string(chat_token_names[i])] = chat.tokens[i];
    }
  }
  for (std::uint32_t id = 0; id < tokenizer.vocabulary.size(); ++id) {
    const std::string& text = tokenizer.vocabulary[id];
    if (is_added(tokenizer, id) && !text.empty()) {
      const bool own = std::ranges::binary_search(chat.special, id) || is_end(tokenizer, id);
      (own ? special : added).push_back(text);
    }
  }
  return {{"template", chat.text}, {"tokens", tokens}, {"special", special}, {"added", added}};
}

nlohmann::json request_of(const TokenizerData& tokenizer, const std::string& messages,
                          std::optional<std::uint32_t> before) {
  nlohmann::json request = description_of(tokenizer);
  request["messages"] = messages;
  request["continues"] = nullptr;
  if (before) {
    request["continues"] = is_end(tokenizer, *before) ? tokenizer.vocabulary[*before] : "";
  }
  return request;
}

}  // namespace

std::string chat_text(const ChatTemplate& chat) {
  if (chat.text.empty()) {
    return "none";
  }
  return counted(chat.text.size(), "byte") + ", BLAKE2s-256 " + to_hex(digest_of(chat));
}

std::string chat_request(const TokenizerData& tokenizer) { return description_of(tokenizer).dump(); }

std::vector<std::uint32_t> ids_of_message_text(const Tokenizer& tokenizer, const std::string& messages,
                                               std::optional<std::uint32_t> before, const std::string& python) {
  const TokenizerData& data = tokenizer.data();
  try {
    if (data.chat.text.empty()) {
      throw InputError("messages: expected a model with a chat template, found one without");
    }
    const nlohmann::json answer = answer_of_renderer(python, request_of(data, messages, before));
    if (answer.contains("error")) {
      throw InputError(one_line(answer["error"].get<std::string>(), 1000));
    }
    return tokenizer.encode_marked(answer.at("text").get<std::string>(),
                                   answer.at("marks").get<std::vector<std::size_t>>());
  } catch (const nlohmann::json::exception& error) {  // texts that are no UTF-8 among them
    throw InputError(std::string("chat template: ") + error.what());
  }
}

std::vector<std::uint32_t> ids_of_messages(const Tokenizer& tokenizer, const std::string& path,
                                           std::optional<std::uint32_t> before) {
  try {
    return ids_of_message_text(tokenizer, read_messages(path), before, default_python());
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
}

std::vector<std::string> turns_of(const TokenizerData& tokenizer, const std::vector<std::uint32_t>& ids) {
  std::vector<std::string> lines;
  std::string text, frame;
  const auto finish = [&] {
    if (!frame.empty() || !text.empty()) {
      std::string line = frame;
      if (!text.empty()) {
        line.append(frame.empty() ? "\"" : " \"").append(printable(text)).append("\"");
      }
      lines.push_back(std::move(line));
    }
    text.clear();
  };
  for (const std::uint32_t id : ids) {
    if (id < tokenizer.vocabulary.size() && !is_added(tokenizer, id)) {
      text += tokenizer.vocabulary[id];
      continue;
    }
    finish();
    frame = id < tokenizer.vocabulary.size() ? one_line(tokenizer.vocabulary[id]) : "<unknown token>";
  }
  finish();
  return lines;
}

}  // namespace tessera::cli
