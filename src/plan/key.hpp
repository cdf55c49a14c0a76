#pragma once

#include <string>
#include <vector>

#include <tessera/statement.hpp>

#include "words/oracle.hpp"
#include "plan/shape.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// Bytes of proofs and keys change only together with this number.
inline constexpr std::uint32_t format_version = 19;

/// What plain keys allow unless their issuer says otherwise.
inline constexpr std::uint32_t default_exceptions = 4096;

/// What an auditor needs to know of a model: everything public that a proof refers to.
struct VerifyingKey {
  std::uint32_t version = format_version;
  ModelShape shape;
  std::int64_t epsilon = 1;                   // eps' of the norms over features
  std::int64_t epsilon_q = 1, epsilon_k = 1;  // of norms on queries and keys, if there are any
  std::int64_t epsilon_o = 1, epsilon_m = 1;  // of norms behind attention and MLP, if there are any
  Widths widths;
  Exponents exponents;
  std::vector<std::int32_t> exp_table;     // 2^16 rows d -> e; rows 2^16 .. 2^17 - 1 are 0
  std::vector<std::int32_t> gelu_table;    // 2^w_z rows z + 2^(w_z-1) -> g: GELU, or the gate's activation
  std::vector<std::int32_t> cap_table;     // 2^16 rows z + 2^15 -> capped z; of models with score_cap
  std::vector<std::int16_t> rotary_table;  // of each rotation cos, then sin, of (position, i < m/2), exponent 14
  Equalisation equalisation;
  TokenizerData tokenizer;
  std::uint32_t filler = 0;  // token that pads the sequence
  OracleParameters parameter_oracle;
  Digest parameter_root{};
  std::uint32_t exceptions = 0;     // values beyond their range that a proof may have; 0: none
  std::uint64_t hiding_proofs = 0;  // that the parameters' random columns are enough for; 0: a plain key

  /// Canonical byte string: sections of named values whose names and number the layers fix, little-endian,
  /// every list length-prefixed (src/spec/transformer.md, section 5).
  [[nodiscard]] std::vector<std::uint8_t> encode() const;
  /// Strict inverse of encode() with check_key(); throws InputError naming the field.
  static VerifyingKey decode(std::span<const std::uint8_t> bytes);
  /// key_digest() of encode().
  [[nodiscard]] Digest digest() const;
};

/// The digest of a key's byte string: BLAKE2s-256, of pieces where it is long, as dataset_digest() says. A short key is
/// not taken for the pieces of a long one, because keys begin with their version.
Digest key_digest(std::span<const std::uint8_t> bytes);

/// What later code relies on, whoever made the key: throws InputError naming the number, table or token out of range.
void check_key(const VerifyingKey& key);
/// check_tokenizer(), and numbers and lengths of added tokens and of the prefix; `prefix` comes before the message.
void check_tokenizer_limits(const TokenizerData& tokenizer, const std::string& prefix);
/// Rows, rate and domain of a committed oracle; `prefix` comes before the name of the field.
void check_oracle(const OracleLayout& layout, const OracleParameters& oracle, const std::string& prefix);

}  // namespace tessera
