#include <map>

#include "archive/hdf5.hpp"
#include "plan/chat.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_configuration = 4000;
constexpr std::size_t most_processors = 8;
constexpr std::size_t most_tokens = 4000;  // bytes of their texts

View fact(const char* name, const std::string& value, bool code = false) {
  return {{"fact", name}, {"fact_value", value}, {"code", code}};
}

/// "2 ranks on AMD EPYC", the most frequent names.
std::string processors(const ProofArchive& archive) {
  std::map<std::string, std::size_t> ranks;
  for (const RankInfo& rank : archive.ranks) {
    ++ranks[rank.processor.empty() ? "a processor without a name" : shown(rank.processor)];
  }
  std::string text;
  std::size_t shown_names = 0;
  for (const auto& [name, count] : ranks) {
    if (shown_names++ == most_processors) {
      return text + "; others";
    }
    text += (text.empty() ? "" : "; ") + count_of(count, "rank") + " on " + name;
  }
  return text.empty() ? "not in the file" : text;
}

}  // namespace

View facts_view(const Part& part) {
  const ProofArchive& archive = part.archive;
  View facts = View::array();
  facts.push_back(fact("Computed by", count_of(archive.machine.ranks, "rank") + " of " +
                                          count_of(archive.machine.threads, "thread") + ", at most " +
                                          mebibytes(archive.machine.peak_memory) + " MiB a rank"));
  facts.push_back(fact("Processors", processors(archive)));
  facts.push_back(fact("Payload", grouped(archive.payload.size()) + " bytes"));
  facts.push_back(fact("Payload digest", to_hex(blake2s(archive.payload)), true));
  facts.push_back(fact("Key digest", to_hex(archive.key_digest), true));
  facts.push_back(fact("File", shown(part.file)));
  facts.push_back(fact("File size", grouped(part.file_bytes) + " bytes"));
  facts.push_back(fact("File digest", part.file_digest, true));
  return {{"facts", facts}, {"configuration", readable(archive.configuration, most_configuration)}};
}

namespace {

View chat_view(const TokenizerData& tokenizer) {
  const ChatTemplate& chat = tokenizer.chat;
  if (chat.text.empty()) {
    return false;
  }
  const std::string_view beginning = first_lines(chat.text);
  const std::string named = shown(named_tokens_text(chat), most_tokens);
  const std::string special = shown(special_tokens_text(tokenizer), most_tokens);
  return {{"chat_bytes", count_of(chat.text.size(), "byte")},
          {"chat_digest", to_hex(digest_of(chat))},
          {"pieces", pieces(beginning)},
          {"chat_goes_on", beginning.size() < chat.text.size()},
          {"chat_tokens", named.empty() ? View(false) : View(named)},
          {"special_tokens", special.empty() ? View(false) : View(special)}};
}

}  // namespace

View key_view(const VerifyingKey& key, const KeyOrigin& origin) {
  const ModelShape& shape = key.shape;
  std::string heads = count_of(shape.n_head, "head");
  if (shape.kv_heads() != shape.n_head) {
    heads += " on " + std::to_string(shape.kv_heads());
  }
  View renewals = View::array();
  for (const RenewedBy& renewal : origin.renewals) {
    renewals.push_back({{"renewal_file", shown(renewal.file)}, {"renewal_digest", to_hex(renewal.digest)}});
  }
  return {{"compared", origin.compared},
          {"renewals", renewals},
          {"architecture", layers_text(shape)},
          {"shape", count_of(shape.n_layer, "layer") + ", width " + grouped(shape.n_embd) + ", " + heads +
                        ", vocabulary " + grouped(shape.n_vocab) + ", context " + grouped(shape.n_positions)},
          {"chat", chat_view(key.tokenizer)},
          {"key_digest", to_hex(origin.renewals.empty() ? key.digest() : origin.given)},
          {"parameter_root", to_hex(key.parameter_root)}};
}

}  // namespace tessera::report
