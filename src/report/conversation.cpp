#include "archive/hdf5.hpp"
#include "plan/ends.hpp"
#include <tessera/sampling.hpp>

#include "report/text.hpp"
#include "report/views.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_token = 64;  // bytes of one

/// The key's bytes of an id.
std::string token_bytes(const VerifyingKey& key, std::uint32_t id) {
  const auto& vocabulary = key.tokenizer.vocabulary;
  return id < vocabulary.size() ? vocabulary[id] : "<unknown token>";
}

View pieces_view(View pieces) { return pieces.empty() ? View(false) : View{{"pieces", std::move(pieces)}}; }

View text_view(const std::optional<VerifyingKey>& key, const std::vector<std::uint32_t>& ids) {
  if (!key) {
    return false;
  }
  std::string text;
  for (const std::uint32_t id : ids) {
    text += token_bytes(*key, id);
  }
  return pieces_view(pieces(text));
}

/// The ids themselves, for a proof under another key, of which no text is known.
View ids_view(const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) {
    text += text.empty() ? "" : " ";
    text += std::to_string(id);
  }
  return text.empty() ? View(false) : View(text);
}

/// A statement's ids with their places: positions count the conversation's tokens, rows those of this proof.
class Places {
 public:
  Places(const Statement& statement, const std::optional<VerifyingKey>& key)
      : key_(key),
        first_(statement.start ? statement.start->length : 0),
        row_(statement.start ? 1 : 0),
        rows_(row_ + statement.prompt.size() + statement.generated.size() - 1),
        pass_length_(statement.pass_length) {}

  View next(std::uint32_t id, bool generated) {
    const std::uint64_t row = row_++;
    const std::string place = row < rows_ ? std::to_string(row) : "–";
    std::string tip = "position " + std::to_string(first_ + row) + ", row " + place + ", id " + std::to_string(id);
    if (pass_length_ != 0 && row < rows_) {
      tip += ", pass " + std::to_string(row / pass_length_);
    }
    if (generated) {
      tip += ", chosen by row " + std::to_string(row - 1);
    }
    return {{"token", key_ ? pieces_view(pieces(token_bytes(*key_, id), most_token)) : View(false)},
            {"kind", generated ? "generated" : "prompt"},
            {"position", std::to_string(first_ + row)},
            {"row", place},
            {"id", std::to_string(id)},
            {"tip", tip}};
  }

 private:
  const std::optional<VerifyingKey>& key_;
  std::uint64_t first_, row_, rows_;
  std::uint64_t pass_length_;
};

View tokens_view(const Statement& statement, const std::optional<VerifyingKey>& key) {
  Places places(statement, key);
  View tokens = View::array();
  for (const std::uint32_t id : statement.prompt) {
    tokens.push_back(places.next(id, false));
  }
  for (const std::uint32_t id : statement.generated) {
    tokens.push_back(places.next(id, true));
  }
  return tokens;
}

View state_view(const std::optional<ConversationState>& state) {
  if (!state) {
    return false;
  }
  return {{"length", grouped(state->length)},
          {"last_token", std::to_string(state->last_token)},
          {"root", to_hex(state->root)}};
}

View sampling_view(const std::optional<Sampling>& sampling) {
  if (!sampling) {
    return false;
  }
  return {{"sampling_parameters", sampling_text(*sampling)}, {"sampling_seed", to_hex(sampling->seed)}};
}

View clamped_view(const std::vector<ClampedValues>& clamped) {
  if (clamped.empty()) {
    return false;
  }
  std::string text;
  std::uint64_t count = 0;
  for (const ClampedValues& values : clamped) {
    text += (text.empty() ? "" : ", ") + values.tensor + " " + grouped(values.count);
    count += values.count;
  }
  return {{"clamped_count", count_of(count, "value")}, {"clamped_tensors", text}};
}

/// Whether an accepted part's text is complete: by which token, or after how many it is cut off.
void add_completeness(View& view, const Part& part, const std::optional<VerifyingKey>& key) {
  const bool accepted = key && part.verification && part.verification->accepted;
  const auto end = accepted ? ended_by(*key, part.archive.statement) : std::nullopt;
  view["complete"] =
      end ? View{{"end_token", shown(token_bytes(*key, *end))}, {"end_id", std::to_string(*end)}} : View(false);
  view["cut_off"] = accepted && !end ? View(count_of(part.archive.statement.generated.size(), "token")) : View(false);
}

/// `given`: the report's key, whose vocabulary says nothing of another key's ids.
View part_view(const Part& part, std::size_t index, bool several, const std::optional<VerifyingKey>& given) {
  static const std::optional<VerifyingKey> none;
  const bool another_key = part.verification && part.verification->another_key;
  const std::optional<VerifyingKey>& key = another_key ? none : given;
  const Statement& statement = part.archive.statement;
  const auto kept = part.verification ? part.verification->kept : std::nullopt;
  View view = {{"part_name", several ? View("Part " + std::to_string(index + 1)) : View(false)},
               {"part_file", shown(part.file)},
               {"verdict", verdict_of(part)},
               {"prompt_text", text_view(key, statement.prompt)},
               {"generated_text", text_view(key, statement.generated)},
               {"told_text", given ? View(false) : pieces_view(pieces(part.archive.text))},
               {"claimed", part.verification && !part.verification->accepted},
               {"named_key", another_key ? View(to_hex(part.archive.key_digest)) : View(false)},
               {"prompt_ids", another_key ? ids_view(statement.prompt) : View(false)},
               {"generated_ids", another_key ? ids_view(statement.generated) : View(false)},
               {"prompt_count", count_of(statement.prompt.size(), "prompt token")},
               {"generated_count", count_of(statement.generated.size(), "generated token")},
               {"start", state_view(statement.start)},
               {"kept", state_view(kept)},
               {"clamped", clamped_view(part.verification ? part.verification->clamped : std::vector<ClampedValues>())},
               {"keeps", statement.keeps},
               {"pass_length", statement.pass_length == 0 ? View(false) : View(std::to_string(statement.pass_length))},
               {"sampling", sampling_view(statement.sampling)},
               {"with_texts", key.has_value()},
               {"tokens", tokens_view(statement, key)}};
  add_completeness(view, part, key);
  return view;
}

}  // namespace

View conversation_view(const Conversation& conversation, const std::optional<VerifyingKey>& key) {
  View parts = View::array();
  for (std::size_t i = 0; i < conversation.size(); ++i) {
    parts.push_back(part_view(conversation[i], i, conversation.size() > 1, key));
  }
  return parts;
}

}  // namespace tessera::report
