#include <algorithm>
#include "base/errors.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"
#include "plan/plan.hpp"
#include <type_traits>
#include <utility>

namespace tessera {
namespace {

/// Appends little-endian fields.
class Encoder {
 public:
  template <class T>
  void number(std::string_view /*field*/, T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (unsigned i = 0; i < sizeof(T); ++i) {
      bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
    }
  }
  template <class T>
  void list(std::string_view field, const std::vector<T>& values, std::size_t /*expected*/) {
    number<std::uint64_t>(field, values.size());
    for (const T value : values) {
      number(field, value);
    }
  }
  void strings(std::string_view field, const std::vector<std::string>& values, std::size_t /*expected*/) {
    number<std::uint64_t>(field, values.size());
    for (const std::string& value : values) {
      number<std::uint32_t>(field, static_cast<std::uint32_t>(value.size()));
      bytes.insert(bytes.end(), value.begin(), value.end());
    }
  }
  void digest(std::string_view /*field*/, const Digest& value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
  }

  std::vector<std::uint8_t> bytes;
};

/// Takes little-endian fields; lists must have exactly the expected length, so no allocation follows an unchecked
/// number.
class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  void number(std::string_view field, T& value) {
    std::uint64_t bits = 0;
    unsigned shift = 0;
    for (const std::uint8_t byte : take(field, sizeof(T))) {
      bits |= std::uint64_t{byte} << shift;
      shift += 8;
    }
    value = static_cast<T>(static_cast<std::make_unsigned_t<T>>(bits));
  }
  template <class T>
  void list(std::string_view field, std::vector<T>& values, std::size_t expected) {
    expect_length(field, expected, expected * sizeof(T));
    values.resize(expected);
    for (T& value : values) {
      number(field, value);
    }
  }
  void strings(std::string_view field, std::vector<std::string>& values, std::size_t expected) {
    expect_length(field, expected, expected * sizeof(std::uint32_t));
    values.resize(expected);
    std::size_t total = 0;
    for (std::string& value : values) {
      std::uint32_t length = 0;
      number(field, length);
      if (length > max_token_bytes) {
        fail(field, "tokens of at most " + std::to_string(max_token_bytes) + " bytes", std::to_string(length));
      }
      total += length;
      if (total > max_vocabulary_bytes) {
        fail(field, "at most " + std::to_string(max_vocabulary_bytes) + " bytes", "more");
      }
      const std::span<const std::uint8_t> bytes = take(field, length);
      value.assign(bytes.begin(), bytes.end());
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
  std::span<const std::uint8_t> take(std::string_view field, std::size_t count) {
    if (rest_.size() < count) {
      fail(field, std::to_string(count) + " bytes", std::to_string(rest_.size()));
    }
    const std::span<const std::uint8_t> bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }
  void expect_length(std::string_view field, std::size_t expected, std::size_t least_bytes) {
    std::uint64_t length = 0;
    number(field, length);
    if (length != expected || rest_.size() < least_bytes) {
      fail(field, std::to_string(expected) + " entries", length != expected ? std::to_string(length) : "fewer");
    }
  }
  std::span<const std::uint8_t> rest_;
};

/// Version and shape: checked before the lists, whose lengths they give.
template <class Archive, class Key>
void head_fields(Archive& a, Key& key) {
  a.number("version", key.version);
  a.number("n_layer", key.shape.n_layer), a.number("n_embd", key.shape.n_embd);
  a.number("n_head", key.shape.n_head), a.number("n_inner", key.shape.n_inner);
  a.number("n_vocab", key.shape.n_vocab), a.number("n_positions", key.shape.n_positions);
  a.number("epsilon", key.epsilon);
  for_each_exponent(key.exponents, [&a](std::string_view name, auto& value) { a.number(name, value); });
}

template <class Archive, class Key>
void tail_fields(Archive& a, Key& key) {
  a.list("exp_table", key.exp_table, std::size_t{1} << (exp_table_log_size - 1));
  a.list("gelu_table", key.gelu_table, std::size_t{1} << gelu_table_log_size);
  a.strings("vocabulary", key.vocabulary, key.shape.n_vocab);
  a.number("filler", key.filler);
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
  head_fields(encoder, *this);
  tail_fields(encoder, *this);
  return std::move(encoder.bytes);
}

VerifyingKey VerifyingKey::decode(std::span<const std::uint8_t> bytes) {
  Decoder decoder(bytes);
  VerifyingKey key;
  head_fields(decoder, key);
  if (key.version != format_version) {
    Decoder::fail("version", std::to_string(format_version), std::to_string(key.version));
  }
  check_shape(key.shape);
  check_epsilon(key.shape, key.epsilon);
  check_exponents(key.exponents);
  tail_fields(decoder, key);
  decoder.finish();
  check_exp_table(key);
  if (key.filler >= key.shape.n_vocab) {
    Decoder::fail("filler", "below " + std::to_string(key.shape.n_vocab), std::to_string(key.filler));
  }
  if (key.parameter_oracle.log_rows < min_log_rows || key.parameter_oracle.log_rows > max_log_rows) {
    Decoder::fail("parameter_oracle.log_rows", std::to_string(min_log_rows) + " to " + std::to_string(max_log_rows),
                  std::to_string(key.parameter_oracle.log_rows));
  }
  if (key.parameter_oracle.log_inverse_rate < 1 || key.parameter_oracle.log_inverse_rate > max_log_inverse_rate) {
    Decoder::fail("parameter_oracle.log_inverse_rate", "1 to " + std::to_string(max_log_inverse_rate),
                  std::to_string(key.parameter_oracle.log_inverse_rate));
  }
  const unsigned log_size = OracleLayout(parameter_shapes(key.shape)).log_size();
  const unsigned log_domain =
      log_size - std::min(log_size, key.parameter_oracle.log_rows) + key.parameter_oracle.log_inverse_rate;
  if (log_domain > F::two_adicity) {
    Decoder::fail("parameter oracle", "a domain of at most 2^32 points", "2^" + std::to_string(log_domain));
  }
  return key;
}

Digest VerifyingKey::digest() const { return blake2s(encode()); }

}  // namespace tessera
