#include <algorithm>
#include <cstdlib>
#include "base/bits.hpp"
#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"
#include "plan/plan.hpp"
#include <utility>

namespace tessera {
namespace {

/// Appends little-endian fields.
class Encoder {
 public:
  template <class T>
  void number(std::string_view /*field*/, T value) {
    append_little_endian(bytes, value);
  }
  void word(std::string_view /*field*/, std::string_view value) { string(value); }
  void architecture(Architecture value) { string(architecture_name(value)); }
  void count(std::string_view /*section*/, std::uint32_t entries) { append_little_endian(bytes, entries); }
  template <class T>
  void named(std::string_view name, T value) {
    string(name);
    append_little_endian(bytes, value);
  }
  void flag(std::string_view name, bool value) { named(name, static_cast<std::uint8_t>(value)); }
  template <class T>
  void table(std::string_view name, const std::vector<T>& values, std::uint32_t /*log_rows*/) {
    string(name);
    append_little_endian(bytes, ceil_log2(values.size()));
    append_little_endian(bytes, static_cast<std::uint32_t>(sizeof(T)));
    for (const T value : values) {
      append_little_endian(bytes, value);
    }
  }
  template <class T>
  void list(std::string_view name, const std::vector<T>& values, std::size_t /*expected*/) {
    string(name);
    append_little_endian<std::uint64_t>(bytes, values.size());
    for (const T value : values) {
      append_little_endian(bytes, value);
    }
  }
  void strings(std::string_view /*field*/, const std::vector<std::string>& values, std::size_t /*expected*/) {
    append_little_endian<std::uint64_t>(bytes, values.size());
    for (const std::string& value : values) {
      string(value);
    }
  }
  void merges(std::string_view /*field*/, const std::vector<Merge>& values) {
    append_little_endian<std::uint64_t>(bytes, values.size());
    for (const Merge& merge : values) {
      append_little_endian(bytes, merge.left);
      append_little_endian(bytes, merge.right);
    }
  }
  template <class Enum>
  void choice(std::string_view /*field*/, Enum value, std::span<const std::string_view> names) {
    string(names[static_cast<std::size_t>(value)]);
  }
  void ids(std::string_view /*field*/, const std::vector<std::uint32_t>& values, std::string_view /*limit*/) {
    append_little_endian<std::uint64_t>(bytes, values.size());
    for (const std::uint32_t id : values) {
      append_little_endian(bytes, id);
    }
  }
  void digest(std::string_view /*field*/, const Digest& value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
  }

  std::vector<std::uint8_t> bytes;

 private:
  void string(std::string_view value) {
    append_little_endian(bytes, static_cast<std::uint32_t>(value.size()));
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
};

/// Takes little-endian fields; names and lengths are the expected ones or bounded before anything is allocated.
class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  void number(std::string_view field, T& value) {
    value = read_little_endian<T>(take(field, sizeof(T)).data());
  }
  void word(std::string_view field, std::string_view expected) {
    const std::string found = string(field);
    if (found != expected) {
      fail(field, std::string(expected), quoted_name(found));
    }
  }
  void architecture(Architecture& value) {
    const std::string found = string("architecture");
    if (found != architecture_name(Architecture::gpt2) && found != architecture_name(Architecture::llama)) {
      fail("architecture", "gpt2 or llama", quoted_name(found));
    }
    value = found == architecture_name(Architecture::gpt2) ? Architecture::gpt2 : Architecture::llama;
  }
  void count(std::string_view section, std::uint32_t entries) { expect(section, "entries", entries); }
  template <class T>
  void named(std::string_view name, T& value) {
    word(name, name);
    number(name, value);
  }
  void flag(std::string_view name, bool& value) {
    std::uint8_t found = 0;
    named(name, found);
    if (found > 1) {
      fail(name, "0 or 1", std::to_string(found));
    }
    value = found == 1;
  }
  template <class T>
  void table(std::string_view name, std::vector<T>& values, std::uint32_t log_rows) {
    word(name, name);
    expect(name, "as log2 of its rows", log_rows);
    expect(name, "bytes an entry", sizeof(T));
    const std::span<const std::uint8_t> bytes = take(name, sizeof(T) << log_rows);
    values.resize(std::size_t{1} << log_rows);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = read_little_endian<T>(bytes.data() + i * sizeof(T));
    }
  }
  template <class T>
  void list(std::string_view name, std::vector<T>& values, std::size_t expected) {
    word(name, name);
    if (const std::size_t found = length(name, sizeof(T)); found != expected) {
      fail(name, std::to_string(expected) + " entries", std::to_string(found));
    }
    values.resize(expected);
    for (T& value : values) {
      number(name, value);
    }
  }
  void strings(std::string_view field, std::vector<std::string>& values, std::size_t expected) {
    if (const std::size_t found = length(field, sizeof(std::uint32_t)); found != expected) {
      fail(field, std::to_string(expected) + " entries", std::to_string(found));
    }
    values.resize(expected);
    std::size_t total = 0;
    for (std::string& value : values) {
      value = string(field);
      total += value.size();
    }
    limit("vocabulary bytes", total, field);
  }
  void merges(std::string_view field, std::vector<Merge>& values) {
    const std::size_t found = length(field, sizeof(Merge));
    limit("merges", found, field);
    values.resize(found);
    for (Merge& merge : values) {
      number(field, merge.left);
      number(field, merge.right);
    }
  }
  template <class Enum>
  void choice(std::string_view field, Enum& value, std::span<const std::string_view> names) {
    const std::string found = string(field);
    const auto place = std::ranges::find(names, found);
    if (place == names.end()) {
      std::string expected;
      for (std::size_t i = names.size(); i-- > 0;) {
        expected += std::string(names[i]) + (i > 1 ? ", " : i == 1 ? " or " : "");
      }
      fail(field, expected, quoted_name(found));
    }
    value = static_cast<Enum>(place - names.begin());
  }
  void ids(std::string_view field, std::vector<std::uint32_t>& values, std::string_view limit_name) {
    const std::size_t found = length(field, sizeof(std::uint32_t));
    limit(limit_name, found, field);
    values.resize(found);
    for (std::uint32_t& id : values) {
      number(field, id);
    }
  }
  void digest(std::string_view field, Digest& value) { std::ranges::copy(take(field, value.size()), value.begin()); }
  void finish() const {
    if (!rest_.empty()) {
      fail("end", "no further bytes", std::to_string(rest_.size()));
    }
  }
  [[noreturn]] static void fail(std::string_view field, const std::string& expected, const std::string& found) {
    throw InputError("verifying key: " + std::string(field) + ": expected " + expected + ", found " + found);
  }

 private:
  std::span<const std::uint8_t> take(std::string_view field, std::size_t size) {
    if (rest_.size() < size) {
      fail(field, std::to_string(size) + " bytes", std::to_string(rest_.size()));
    }
    const std::span<const std::uint8_t> bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  void expect(std::string_view field, const std::string& what, std::uint32_t expected) {
    std::uint32_t found = 0;
    number(field, found);
    if (found != expected) {
      fail(field, std::to_string(expected) + " " + what, std::to_string(found));
    }
  }
  std::string string(std::string_view field) {
    std::uint32_t size = 0;
    number(field, size);
    limit("token bytes", size, field);
    const std::span<const std::uint8_t> bytes = take(field, size);
    return {bytes.begin(), bytes.end()};
  }
  /// The length of a list whose entries take `least` bytes or more.
  std::size_t length(std::string_view field, std::size_t least) {
    std::uint64_t found = 0;
    number(field, found);
    if (rest_.size() / least < found) {
      fail(field, "at most " + std::to_string(rest_.size() / least) + " entries", std::to_string(found));
    }
    return found;
  }
  static void limit(std::string_view name, std::uint64_t value, std::string_view field) {
    if (const Limit& allowed = limit_of(name); !allowed.allows(value)) {
      refuse_limit(allowed, std::to_string(value), "verifying key: " + std::string(field) + ": " + std::string(name));
    }
  }
  std::span<const std::uint8_t> rest_;
};

/// Architecture, sizes, constants and exponents: checked before the rest, whose lengths they give.
template <class Archive, class Key>
void head_fields(Archive& a, Key& key) {
  a.architecture(key.shape.architecture);
  const bool llama = !key.shape.gpt2();
  a.count("sizes", llama ? 8 : 6);
  for_each_size(key.shape, [&a](std::string_view name, auto& value) { a.named(name, value); });
  if (llama) {
    a.count("flags", 3);
    for_each_flag(key.shape, [&a](std::string_view name, auto& value) { a.flag(name, value); });
  }
  a.count("constants", llama ? 2 + (key.shape.head_norm ? 2 : 0) : 1);
  a.named("epsilon", key.epsilon);
  if (key.shape.head_norm) {
    a.named("epsilon_q", key.epsilon_q);
    a.named("epsilon_k", key.epsilon_k);
  }
  if (llama) {
    a.named("product_bits", key.product_bits);
  }
  std::uint32_t exponents = 0;
  for_each_exponent(key.shape, key.exponents, [&](std::string_view, const auto&) { ++exponents; });
  a.count("exponents", exponents);
  for_each_exponent(key.shape, key.exponents, [&a](std::string_view name, auto& value) { a.named(name, value); });
}

/// Those of gpt2 are as they were when there was no other model; the others say more.
template <class Archive, class Key, class Tokenizer>
void tokenizer_fields(Archive& a, Key& key, Tokenizer& tokenizer) {
  a.choice("tokenizer", tokenizer.model, tokenizer_models());
  const bool more = tokenizer.model != TokenizerModel::gpt2;
  if (more) {
    a.choice("pre_tokenizer", tokenizer.split, splits());
    a.choice("normalizer", tokenizer.normalizer, normalizers());
    a.flag("ignore_merges", tokenizer.ignore_merges);
  } else {
    a.word("pre_tokenizer", name_of(Split::gpt2));
  }
  a.strings("vocabulary", tokenizer.vocabulary, key.shape.n_vocab);
  a.merges("merges", tokenizer.merges);
  if (more) {
    a.ids("byte_tokens", tokenizer.byte_tokens, "byte tokens");
    a.ids("added_tokens", tokenizer.added, "added tokens");
    a.ids("added_normalized", tokenizer.added_normalized, "added tokens");
    a.ids("prefix", tokenizer.prefix, "prefix tokens");
  }
  a.count("special tokens", 2);
  a.named("end_of_text", tokenizer.end_of_text), a.named("filler", key.filler);
}

/// Powers of a place: an empty list where a key that is written lacks it, a new one in a key that is read.
const std::vector<std::int16_t>& powers_of(const VerifyingKey& key, std::string_view place) {
  static const std::vector<std::int16_t> none;
  const auto found = key.equalisation.find(place);
  return found == key.equalisation.end() ? none : found->second;
}
std::vector<std::int16_t>& powers_of(VerifyingKey& key, std::string_view place) {
  return key.equalisation[std::string(place)];
}

template <class Archive, class Key>
void tail_fields(Archive& a, Key& key) {
  const bool llama = !key.shape.gpt2();
  a.count("tables", llama ? 3 : 2);
  a.table("exp_table", key.exp_table, exp_table_log_size - 1);
  a.table(llama ? "activation_table" : "gelu_table", key.gelu_table, gelu_table_log_size);
  if (llama) {
    a.list("rotary_table", key.rotary_table, rotary_entries(key.shape));
    const std::vector<EqualisedPlace> places = equalised_places(key.shape);
    a.count("equalisation", static_cast<std::uint32_t>(places.size()));
    for (const EqualisedPlace& place : places) {
      a.list(place.name, powers_of(key, place.name), place.count);
    }
  }
  tokenizer_fields(a, key, key.tokenizer);
  a.number("parameter_oracle.log_rows", key.parameter_oracle.log_rows);
  a.number("parameter_oracle.log_inverse_rate", key.parameter_oracle.log_inverse_rate);
  a.digest("parameter_root", key.parameter_root);
}

/// Rotations keep lengths but for rounding: bounds hold, and a rotation can be turned back in the field.
void check_rotary_table(const VerifyingKey& key) {
  if (key.rotary_table.size() != rotary_entries(key.shape)) {
    Decoder::fail("rotary_table", std::to_string(rotary_entries(key.shape)) + " entries",
                  std::to_string(key.rotary_table.size()));
  }
  constexpr std::int32_t one = std::int32_t{1} << Exponents::rotary;
  const std::size_t half = key.rotary_table.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const std::int32_t cos = key.rotary_table[i];
    const std::int32_t sin = key.rotary_table[half + i];
    if (std::abs(cos) > one || std::abs(sin) > one || std::abs(cos * cos + sin * sin - one * one) > 2 * one) {
      Decoder::fail("rotary_table", "a rounded cosine and sine of exponent 14 at " + std::to_string(i),
                    std::to_string(cos) + " and " + std::to_string(sin));
    }
  }
}

/// What the soft-max certificate needs of EXP: the first entry alone is odd modulo 2^kappa (it counts the maxima),
/// entries fall from 1 to 0 and never exceed their widths.
void check_exp_table(const VerifyingKey& key) {
  const unsigned kappa = ceil_log2(key.shape.n_positions) + 1;
  std::int32_t before = std::int32_t{1} << (kappa + 15);
  if (key.exp_table.front() != before + 1) {
    Decoder::fail("exp_table", std::to_string(before + 1) + " at 0", std::to_string(key.exp_table.front()));
  }
  for (std::size_t d = 1; d < key.exp_table.size(); ++d) {
    const std::int32_t entry = key.exp_table[d];
    if (entry < 0 || entry > before || entry % (std::int32_t{1} << kappa) != 0) {
      Decoder::fail("exp_table",
                    "a multiple of 2^" + std::to_string(kappa) + " not above " + std::to_string(before) + " at " +
                        std::to_string(d),
                    std::to_string(entry));
    }
    before = entry;
  }
  if (before != 0) {
    Decoder::fail("exp_table", "0 at the end", std::to_string(before));
  }
}

}  // namespace

std::vector<std::uint8_t> VerifyingKey::encode() const {
  Encoder encoder;
  encoder.number("version", version);
  head_fields(encoder, *this);
  tail_fields(encoder, *this);
  return std::move(encoder.bytes);
}

VerifyingKey VerifyingKey::decode(std::span<const std::uint8_t> bytes) {
  Decoder decoder(bytes);
  VerifyingKey key;
  decoder.number("version", key.version);
  if (key.version != format_version) {
    Decoder::fail("version", std::to_string(format_version), std::to_string(key.version));
  }
  head_fields(decoder, key);
  check_shape(key.shape);
  check_epsilon(key.shape, key.epsilon);
  check_exponents(key.shape, key.exponents);
  tail_fields(decoder, key);
  decoder.finish();
  check_key(key);
  return key;
}

void check_key(const VerifyingKey& key) {
  check_shape(key.shape);
  check_epsilon(key.shape, key.epsilon);
  check_exponents(key.shape, key.exponents);
  if (!key.shape.gpt2()) {
    check_rotary_table(key);
    check_limit("product_bits", key.product_bits);
  }
  if (key.shape.head_norm) {
    check_head_epsilon(key.shape, key.epsilon_q, "epsilon_q");
    check_head_epsilon(key.shape, key.epsilon_k, "epsilon_k");
  }
  if (key.exp_table.size() != std::size_t{1} << (exp_table_log_size - 1) ||
      key.gelu_table.size() != std::size_t{1} << gelu_table_log_size) {
    Decoder::fail("function tables", "2^16 rows each",
                  std::to_string(key.exp_table.size()) + " and " + std::to_string(key.gelu_table.size()));
  }
  check_exp_table(key);
  for (const Merge& merge : key.tokenizer.merges) {
    check_token(std::max(merge.left, merge.right), key.shape.n_vocab, "verifying key: merges");
  }
  check_token(key.tokenizer.end_of_text, key.shape.n_vocab, "verifying key: end_of_text");
  if (!is_gpt2(key.tokenizer)) {
    if (key.tokenizer.vocabulary.size() != key.shape.n_vocab) {
      Decoder::fail("vocabulary", std::to_string(key.shape.n_vocab) + " entries",
                    std::to_string(key.tokenizer.vocabulary.size()));
    }
    check_tokenizer_limits(key.tokenizer, "verifying key: ");
  }
  check_token(key.filler, key.shape.n_vocab, "verifying key: filler");
  check_oracle(OracleLayout(parameter_shapes(key.shape)).log_size(), key.parameter_oracle, "parameter_oracle.");
}

void check_tokenizer_limits(const TokenizerData& tokenizer, const std::string& prefix) {
  try {
    check_tokenizer(tokenizer);
  } catch (const InputError& error) {
    throw InputError(prefix + error.what());
  }
  for (const auto* added : {&tokenizer.added, &tokenizer.added_normalized}) {
    check_limit("added tokens", added->size(), prefix + "added tokens");
    for (const std::uint32_t id : *added) {
      check_limit("added token bytes", tokenizer.vocabulary[id].size(),
                  prefix + "token " + std::to_string(id) + ": bytes");
    }
  }
  check_limit("prefix tokens", tokenizer.prefix.size(), prefix + "prefix");
}

void check_oracle(unsigned log_size, const OracleParameters& oracle, const std::string& prefix) {
  check_limit("log_rows", oracle.log_rows, prefix + "log_rows");
  check_limit("log_inverse_rate", oracle.log_inverse_rate, prefix + "log_inverse_rate");
  check_limit("log_domain", log_size - std::min(log_size, oracle.log_rows) + oracle.log_inverse_rate,
              prefix + "log_domain");
}

Digest VerifyingKey::digest() const { return blake2s(encode()); }

}  // namespace tessera
