#include <algorithm>
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
  void count(std::string_view /*section*/, std::uint32_t entries) { append_little_endian(bytes, entries); }
  template <class T>
  void named(std::string_view name, T value) {
    string(name);
    append_little_endian(bytes, value);
  }
  template <class T>
  void table(std::string_view name, const std::vector<T>& values, std::uint32_t /*log_rows*/) {
    string(name);
    append_little_endian(bytes, ceil_log2(values.size()));
    append_little_endian(bytes, static_cast<std::uint32_t>(sizeof(T)));
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
  void count(std::string_view section, std::uint32_t entries) { expect(section, "entries", entries); }
  template <class T>
  void named(std::string_view name, T& value) {
    word(name, name);
    number(name, value);
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
  a.word("architecture", key_architecture);
  a.count("sizes", 6);
  for_each_size(key.shape, [&a](std::string_view name, auto& value) { a.named(name, value); });
  a.count("constants", 1);
  a.named("epsilon", key.epsilon);
  std::uint32_t exponents = 0;
  for_each_exponent(key.exponents, [&](std::string_view, const auto&) { ++exponents; });
  a.count("exponents", exponents);
  for_each_exponent(key.exponents, [&a](std::string_view name, auto& value) { a.named(name, value); });
}

template <class Archive, class Key>
void tail_fields(Archive& a, Key& key) {
  a.count("tables", 2);
  a.table("exp_table", key.exp_table, exp_table_log_size - 1);
  a.table("gelu_table", key.gelu_table, gelu_table_log_size);
  a.word("tokenizer", key_tokenizer);
  a.word("pre_tokenizer", key_pre_tokenizer);
  a.strings("vocabulary", key.tokenizer.vocabulary, key.shape.n_vocab);
  a.merges("merges", key.tokenizer.merges);
  a.count("special tokens", 2);
  a.named("end_of_text", key.tokenizer.end_of_text), a.named("filler", key.filler);
  a.number("parameter_oracle.log_rows", key.parameter_oracle.log_rows);
  a.number("parameter_oracle.log_inverse_rate", key.parameter_oracle.log_inverse_rate);
  a.digest("parameter_root", key.parameter_root);
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
  check_exponents(key.exponents);
  tail_fields(decoder, key);
  decoder.finish();
  check_key(key);
  return key;
}

void check_key(const VerifyingKey& key) {
  check_shape(key.shape);
  check_epsilon(key.shape, key.epsilon);
  check_exponents(key.exponents);
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
  check_token(key.filler, key.shape.n_vocab, "verifying key: filler");
  check_oracle(OracleLayout(parameter_shapes(key.shape)).log_size(), key.parameter_oracle, "parameter_oracle.");
}

void check_oracle(unsigned log_size, const OracleParameters& oracle, const std::string& prefix) {
  check_limit("log_rows", oracle.log_rows, prefix + "log_rows");
  check_limit("log_inverse_rate", oracle.log_inverse_rate, prefix + "log_inverse_rate");
  check_limit("log_domain", log_size - std::min(log_size, oracle.log_rows) + oracle.log_inverse_rate,
              prefix + "log_domain");
}

Digest VerifyingKey::digest() const { return blake2s(encode()); }

}  // namespace tessera
