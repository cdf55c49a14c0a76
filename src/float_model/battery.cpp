#include "float_model/battery.hpp"

#include <algorithm>
#include <random>
#include <string_view>

#include "base/errors.hpp"

namespace tessera {
namespace {

constexpr std::size_t most_specials = 64;
constexpr std::size_t special_repetitions = 12;
constexpr std::size_t sequences = 30, repeated_length = 24, random_length = 48;
constexpr std::size_t run_length = 24, bytes_at_once = 32;
constexpr std::string_view run_bytes = " \n\t0aA.,-=_*#/\\\"(<|\xE2\xFF";
constexpr std::size_t least_alone = 512;
constexpr std::size_t work_alone = std::size_t{1} << 39U;  // products with weights
constexpr std::uint64_t battery_seed = 20250117;

constexpr std::string_view texts[] = {
    "for (int i = 0; i < n; ++i) {\n  sum += a[i]*b[n - 1 - i];  // reversed\n}\nreturn sum;\n",
    "def area(radius):\n    \"\"\"Of a circle.\"\"\"\n    return 3.14159 * radius ** 2\n\nprint(area(2))\n",
    "{\"name\": \"example\", \"values\": [1, 2.5, -3e-7, null, true], \"next\": {\"id\": 42}}",
    "| year | rain | sun |\n|------|------|-----|\n| 1998 | 12.5 | 3 |\n| 1999 | 7.25 | 11 |\n",
    "<p class=\"note\">A &amp; B</p>\n<!-- end -->\n\\frac{a}{b} = \\sqrt{x^2 + y^2}",
    "Die Brücke über den Fluß wurde im März geöffnet; alle gingen früh nach Hause.",
    "El niño corrió hacia la montaña, ¿y quién lo vio? ¡Nadie!",
    "Le garçon a mangé une pomme, où est-elle tombée ?",
    "Старый дом стоял на берегу реки, и никто в нём не жил.",
    "Το παλιό σπίτι ήταν κοντά στη θάλασσα.",
    "老房子在河边，没有人住在那里。今天天气很好。",
    "古い家は川のそばにあり、だれも住んでいませんでした。",
    "강가에 오래된 집이 있었고 아무도 살지 않았다.",
    "كان البيت القديم قرب النهر ولم يسكنه أحد.",
    "नदी के किनारे एक पुराना घर था।",
    "🙂🙃🚀🎉 → ← ∑∫√∞ ≠ ≤ © ® ™ £ € ¥ § ¶",
    "2 + 2 = 4; 17 * 3 = 51; 1000000007, 3.141592653589793, 0xDEADBEEF",
    "AAAA BBBB!!! ??? ... --- === ### $$$ %%% &&& *** @@@ ~~~"};

void append(TokenSequence& sequence, const TokenSequence& more) {
  sequence.insert(sequence.end(), more.begin(), more.end());
}

/// Tokens that are a single byte, in the order of the bytes, or none.
TokenSequence byte_tokens(const TokenizerData& tokenizer) {
  if (!tokenizer.byte_tokens.empty()) {
    return tokenizer.byte_tokens;
  }
  const std::size_t none = tokenizer.vocabulary.size();
  std::vector<std::size_t> by_byte(256, none);
  for (std::size_t id = none; id-- > 0;) {
    if (const std::string& bytes = tokenizer.vocabulary[id]; bytes.size() == 1) {
      by_byte[static_cast<unsigned char>(bytes[0])] = id;
    }
  }
  TokenSequence ids;
  for (const std::size_t id : by_byte) {
    if (id != none) {
      ids.push_back(static_cast<std::uint32_t>(id));
    }
  }
  return ids;
}

class Battery {
 public:
  Battery(const ModelShape& shape, const TokenizerData& tokenizer) : shape_(shape), data_(tokenizer) {
    front_ = tokenizer.prefix.empty() ? TokenSequence{tokenizer.end_of_text} : tokenizer.prefix;
  }

  std::vector<TokenSequence> make() {
    const std::vector<TokenSequence> written = encoded_texts();
    specials(written.empty() ? TokenSequence{} : written.front());
    drawn();
    bytes();
    for (const TokenSequence& text : written) {
      add(text);
      add_behind_front(text);
    }
    alone();
    return std::move(sequences_);
  }

 private:
  void add(TokenSequence sequence) {
    sequence.resize(std::min(sequence.size(), shape_.n_positions));
    if (!sequence.empty()) {
      sequences_.push_back(std::move(sequence));
    }
  }

  void add_behind_front(const TokenSequence& sequence) {
    TokenSequence all = front_;
    append(all, sequence);
    add(std::move(all));
  }

  /// The battery's texts as tokens; of a vocabulary that cannot write all of them, those that it can.
  [[nodiscard]] std::vector<TokenSequence> encoded_texts() const {
    std::vector<TokenSequence> encoded;
    try {
      const Tokenizer tokenizer(data_);
      for (const std::string_view text : texts) {
        try {
          encoded.push_back(tokenizer.encode(text));
        } catch (const InputError&) {
          continue;
        }
      }
    } catch (const InputError&) {
      return {};  // synthetic vocabularies stand for no text
    }
    return encoded;
  }

  void specials(TokenSequence text) {
    text.resize(std::min(text.size(), special_repetitions));
    for (const std::uint32_t id : special_tokens(data_)) {
      const TokenSequence repeated(special_repetitions, id);
      TokenSequence before{id};
      append(before, text);
      for (const TokenSequence& sequence : {TokenSequence{id}, repeated, before}) {
        add(sequence);
        add_behind_front(sequence);
      }
    }
  }

  void drawn() {
    std::mt19937_64 generator(battery_seed);
    const auto draw = [&] { return static_cast<std::uint32_t>(generator() % shape_.n_vocab); };
    for (std::size_t i = 0; i < sequences; ++i) {
      TokenSequence random(random_length);
      std::ranges::generate(random, draw);
      const TokenSequence repeated(repeated_length, draw());
      for (const TokenSequence& sequence : {repeated, random}) {
        i % 2 == 0 ? add(sequence) : add_behind_front(sequence);
      }
    }
  }

  void bytes() {
    const TokenSequence ids = byte_tokens(data_);
    for (std::size_t first = 0; first < ids.size(); first += bytes_at_once) {
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
      add({begin, begin + static_cast<std::ptrdiff_t>(std::min(bytes_at_once, ids.size() - first))});
    }
    for (const char byte : ids.size() == 256 ? run_bytes : std::string_view()) {
      add(TokenSequence(run_length, ids[static_cast<unsigned char>(byte)]));
    }
  }

  /// Rows of the first token, which sees nothing but itself, and behind what stands in front of a prompt.
  void alone() {
    std::size_t weights = 1;
    for (const ParameterRow& row : parameter_table(shape_)) {
      weights += row.per_block ? row.extents(shape_).count() : 0;
    }
    const std::size_t count = std::min(std::max(work_alone / weights, least_alone), shape_.n_vocab);
    for (std::size_t i = 0; i < count; ++i) {
      const auto id = static_cast<std::uint32_t>(i * shape_.n_vocab / count);
      add({id});
      if (i % 4 == 0) {
        add_behind_front({id});
      }
    }
  }

  const ModelShape& shape_;
  const TokenizerData& data_;
  TokenSequence front_;
  std::vector<TokenSequence> sequences_;
};

}  // namespace

TokenSequence special_tokens(const TokenizerData& tokenizer) {
  TokenSequence ids{tokenizer.end_of_text};
  append(ids, tokenizer.prefix);
  append(ids, tokenizer.added);
  append(ids, tokenizer.added_normalized);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  const std::size_t count = std::min(ids.size(), most_specials);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = ids[i * ids.size() / count];
  }
  ids.resize(count);
  return ids;
}

std::vector<TokenSequence> calibration_battery(const ModelShape& shape, const TokenizerData& tokenizer) {
  return Battery(shape, tokenizer).make();
}

}  // namespace tessera
