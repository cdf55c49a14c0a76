#include "plan/key.hpp"

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "base/errors.hpp"
#include "hash/dataset_hash.hpp"
#include "plan/chat.hpp"
#include "plan/ends.hpp"
#include "plan/hiding.hpp"
#include "plan/key_fields.hpp"
#include "plan/limits.hpp"
#include "plan/plan.hpp"

namespace tessera {
namespace {

/// Layers, sizes, constants and exponents: checked before the rest, whose lengths they give.
template <class Archive, class Key>
void head_fields(Archive& a, Key& key) {
  a.count("layers", 5);
  for_each_choice(key.shape, [&a](std::string_view name, auto& value, auto names) {
    a.word(name, name), a.choice(name, value, names);
  });
  a.count("sizes", key.shape.rotary() ? 8 : 6);
  for_each_size(key.shape, [&a](std::string_view name, auto& value) { a.size(name, value); });
  std::uint32_t flags = 0;
  for_each_flag(key.shape, [&](std::string_view, const auto&) { ++flags; });
  a.count("flags", flags);
  for_each_flag(key.shape, [&a](std::string_view name, auto& value) { a.flag(name, value); });
  if (key.shape.rotary()) {
    a.named("rotations", key.shape.rotations);
    a.word("rotation_of_block", "rotation_of_block"),
        a.ids("rotation_of_block", key.shape.rotation_of_block, "kinds of blocks");
    a.word("window_of_block", "window_of_block"),
        a.ids("window_of_block", key.shape.window_of_block, "kinds of blocks");
  }
  for_each_cap(key.shape, [&a](std::string_view name, auto& value) {
    if (a.next(name, value)) {
      a.flag(name, value);
      a.require(name, value, "1, or no such field", "0");
    }
  });
  const bool normed = key.shape.head_norm;
  const bool after = key.shape.norm_after();
  std::uint32_t constants = 1 + (normed ? 2 : 0) + (after ? 2 : 0);
  for_each_width(key.shape, key.widths, [&](std::string_view, const auto&) { ++constants; });
  a.count("constants", constants);
  a.named("epsilon", key.epsilon);
  if (normed) {
    a.named("epsilon_q", key.epsilon_q);
    a.named("epsilon_k", key.epsilon_k);
  }
  if (after) {
    a.named("epsilon_o", key.epsilon_o);
    a.named("epsilon_m", key.epsilon_m);
  }
  for_each_width(key.shape, key.widths, [&a](std::string_view name, auto& value) { a.named(name, value); });
  std::uint32_t exponents = 0;
  for_each_exponent(key.shape, key.exponents, [&](std::string_view, const auto&) { ++exponents; });
  a.count("exponents", exponents);
  for_each_exponent(key.shape, key.exponents, [&a](std::string_view name, auto& value) { a.named(name, value); });
}

/// Fields of the tokenizer. Keys of gpt2's have those that they had when there was no other model; the others' have
/// more.
template <class Archive, class Key, class Tokenizer>
void tokenizer_fields(Archive& a, Key& key, Tokenizer& tokenizer) {
  const bool strip = a.tokenizer_kind("tokenizer", tokenizer.model, strips(tokenizer));
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
    if (tokenizer.model == TokenizerModel::tied_fallback) {
      a.ids("tied", tokenizer.tied, "merges");
    }
  }
  if (strip) {
    a.ids("added_lstrip", tokenizer.added_lstrip, "added tokens");
    a.ids("added_rstrip", tokenizer.added_rstrip, "added tokens");
    a.require("added_lstrip", strips(tokenizer), "ids in it or in added_rstrip", "none in both");
  }
  a.count("special tokens", 2);
  a.named("end_of_text", tokenizer.end_of_text), a.named("filler", key.filler);
}

/// The template and what it is given beside messages.
template <class Archive, class Chat>
void chat_fields(Archive& a, Chat& chat) {
  a.word("chat_template", "chat_template"), a.text("chat_template", chat.text, "chat template bytes");
  for (std::size_t i = 0; i < chat_token_names.size(); ++i) {
    a.text(chat_token_names[i], chat.tokens[i], "chat token bytes");
  }
  a.ids("special", chat.special, "added tokens");
}

constexpr std::string_view activation_name = "activation_table";

/// Powers of a place: an empty list where a key that is written lacks it, a new one in a key that is read.
const std::vector<std::int16_t>& powers_of(const VerifyingKey& key, std::string_view place) {
  static const std::vector<std::int16_t> none;
  const auto found = key.equalisation.find(place);
  return found == key.equalisation.end() ? none : found->second;
}
std::vector<std::int16_t>& powers_of(VerifyingKey& key, std::string_view place) {
  return key.equalisation[std::string(place)];
}

/// A plain MLP's entries are int16.
template <class Archive, class Key>
void activation_table(Archive& a, Key& key) {
  if (key.shape.gated()) {
    a.table(activation_name, key.gelu_table, key.widths.gate_bits);
    return;
  }
  std::vector<std::int16_t> narrow(key.gelu_table.begin(), key.gelu_table.end());
  a.table(activation_name, narrow, gelu_table_log_size);
  if constexpr (!std::is_const_v<Key>) {
    key.gelu_table.assign(narrow.begin(), narrow.end());
  }
}

template <class Archive, class Key>
void tail_fields(Archive& a, Key& key) {
  const bool rotary = key.shape.rotary();
  a.count("tables", (rotary ? 3 : 2) + (key.shape.score_cap ? 1 : 0));
  a.table("exp_table", key.exp_table, exp_table_log_size - 1);
  activation_table(a, key);
  if (key.shape.score_cap) {
    a.table("cap_table", key.cap_table, cap_table_log_size);
  }
  if (rotary) {
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
  a.number("parameter_oracle.absent_rows", key.parameter_oracle.absent_rows);
  a.digest("parameter_root", key.parameter_root);
  if (a.next("exceptions", key.exceptions > 0)) {
    a.named("exceptions", key.exceptions);
    a.require("exceptions", key.exceptions > 0, "at least 1", "0");
  }
  if (a.next("ends", !key.tokenizer.ends.empty())) {
    a.word("ends", "ends"), a.ids("ends", key.tokenizer.ends, "end tokens");
  }
  if (a.next("chat_template", !key.tokenizer.chat.text.empty())) {
    chat_fields(a, key.tokenizer.chat);
  }
  if (a.more(key.hiding_proofs > 0)) {
    a.named("hiding_proofs", key.hiding_proofs);
    a.require("hiding_proofs", key.hiding_proofs > 0, "at least 1", "0");
  }
}

/// Rotations keep lengths but for rounding: bounds hold, and a rotation can be turned back in the field.
void check_rotary_table(const VerifyingKey& key) {
  if (key.rotary_table.size() != rotary_entries(key.shape)) {
    refuse_key("rotary_table", std::to_string(rotary_entries(key.shape)) + " entries",
               std::to_string(key.rotary_table.size()));
  }
  constexpr std::int32_t one = std::int32_t{1} << rotation_exponent;
  const std::size_t half = key.rotary_table.size() / (2 * std::size_t{key.shape.rotations});
  for (std::size_t first = 0; first < key.rotary_table.size(); first += 2 * half) {
    for (std::size_t i = first; i < first + half; ++i) {
      const std::int32_t cos = key.rotary_table[i];
      const std::int32_t sin = key.rotary_table[half + i];
      if (std::abs(cos) > one || std::abs(sin) > one || std::abs(cos * cos + sin * sin - one * one) > 2 * one) {
        refuse_key("rotary_table", "a rounded cosine and sine of exponent 14 at " + std::to_string(i),
                   std::to_string(cos) + " and " + std::to_string(sin));
      }
    }
  }
}

/// What the soft-max certificate needs of EXP: the first entry alone is odd modulo 2^kappa (it counts the maxima),
/// entries fall from 1 to 0 and never exceed their widths.
void check_exp_table(const VerifyingKey& key) {
  const unsigned kappa = ceil_log2(key.shape.n_positions) + 1;
  const std::int32_t remainder = (std::int32_t{1} << kappa) - 1;
  std::int32_t before = std::int32_t{1} << (kappa + 15);
  if (key.exp_table.front() != before + 1) {
    refuse_key("exp_table", std::to_string(before + 1) + " at 0", std::to_string(key.exp_table.front()));
  }
  for (std::size_t d = 1; d < key.exp_table.size(); ++d) {
    const std::int32_t entry = key.exp_table[d];
    if (entry < 0 || entry > before || (entry & remainder) != 0) {
      refuse_key("exp_table",
                 "a multiple of 2^" + std::to_string(kappa) + " not above " + std::to_string(before) + " at " +
                     std::to_string(d),
                 std::to_string(entry));
    }
    before = entry;
  }
  if (before != 0) {
    refuse_key("exp_table", "0 at the end", std::to_string(before));
  }
}

/// Padding of inner features of the MLP is 0 before and after the activation: else no honest proof would pass. Products
/// with its values stay below 2^62.
void check_activation_table(const VerifyingKey& key) {
  const std::int64_t most = most_activation(key.shape, key.widths);
  const std::int64_t least = key.shape.gated() ? -most : -most - 1;
  const auto beyond =
      std::ranges::find_if(key.gelu_table, [&](std::int64_t entry) { return entry < least || entry > most; });
  if (beyond != key.gelu_table.end()) {
    refuse_key(activation_name,
               std::to_string(least) + " to " + std::to_string(most) + " at " +
                   std::to_string(beyond - key.gelu_table.begin()),
               std::to_string(*beyond));
  }
  const std::size_t zero = key.gelu_table.size() / 2;
  if (key.gelu_table[zero] != 0) {
    refuse_key(activation_name, "0 at " + std::to_string(zero) + ", the value of 0",
               std::to_string(key.gelu_table[zero]));
  }
}

/// Masked places stay what they are, INF away from all that is seen, and maxima have their range.
void check_cap_table(const VerifyingKey& key) {
  constexpr std::size_t rows = std::size_t{1} << cap_table_log_size;
  if (key.cap_table.size() != (key.shape.score_cap ? rows : 0)) {
    refuse_key("cap_table", key.shape.score_cap ? "2^16 rows" : "none without capped scores",
               std::to_string(key.cap_table.size()));
  }
  constexpr std::int32_t most = (std::int32_t{1} << (capped_score_bits - 1)) - 1;
  for (std::size_t row = 0; row < key.cap_table.size(); ++row) {
    const std::int32_t entry = key.cap_table[row];
    if (entry < -most || entry > most || (row == rows / 2 && entry != 0)) {
      refuse_key("cap_table",
                 (row == rows / 2 ? "0" : std::to_string(-most) + " to " + std::to_string(most)) + " at " +
                     std::to_string(row),
                 std::to_string(entry));
    }
  }
}

/// Constants and exponents, which the lengths of the tables and the plan depend on.
void check_scales(const VerifyingKey& key) {
  check_widths(key.shape, key.widths);
  check_epsilon(key.shape, key.epsilon, key.widths);
  check_exponents(key.shape, key.exponents, key.widths);
}

}  // namespace

std::vector<std::uint8_t> VerifyingKey::encode() const {
  KeyEncoder encoder;
  encoder.number("version", version);
  head_fields(encoder, *this);
  tail_fields(encoder, *this);
  return std::move(encoder.bytes);
}

VerifyingKey VerifyingKey::decode(std::span<const std::uint8_t> bytes) {
  KeyDecoder decoder(bytes);
  VerifyingKey key;
  decoder.number("version", key.version);
  if (key.version != format_version) {
    refuse_key("version", std::to_string(format_version), std::to_string(key.version));
  }
  head_fields(decoder, key);
  complete(key.shape, key.exponents);
  check_shape(key.shape);
  check_scales(key);
  key.hiding_proofs = 0;
  key.exceptions = 0;
  tail_fields(decoder, key);
  decoder.finish();
  check_key(key);
  return key;
}

void check_key(const VerifyingKey& key) {
  check_shape(key.shape);
  check_scales(key);
  if (key.shape.rotary()) {
    check_rotary_table(key);
  }
  if (key.shape.head_norm) {
    check_head_epsilon(key.shape, HeadNormOf::queries, key.epsilon_q, "epsilon_q");
    check_head_epsilon(key.shape, HeadNormOf::keys, key.epsilon_k, "epsilon_k");
  }
  if (key.shape.norm_after()) {
    check_branch_epsilon(key.shape, key.epsilon_o, "epsilon_o");
    check_branch_epsilon(key.shape, key.epsilon_m, "epsilon_m");
  }
  if (key.exp_table.size() != std::size_t{1} << (exp_table_log_size - 1) ||
      key.gelu_table.size() != std::size_t{1} << key.widths.gate_bits) {
    refuse_key("function tables", "2^16 and 2^" + std::to_string(key.widths.gate_bits) + " rows",
               std::to_string(key.exp_table.size()) + " and " + std::to_string(key.gelu_table.size()));
  }
  check_exp_table(key);
  check_activation_table(key);
  check_cap_table(key);
  check_merges(key.tokenizer.merges, key.shape.n_vocab, "verifying key: merges");
  check_token(key.tokenizer.end_of_text, key.shape.n_vocab, "verifying key: end_of_text");
  check_ends(key.tokenizer, key.shape.n_vocab, "verifying key: ");
  check_chat(key.tokenizer, "verifying key: ");
  if (!is_gpt2(key.tokenizer)) {
    if (key.tokenizer.vocabulary.size() != key.shape.n_vocab) {
      refuse_key("vocabulary", std::to_string(key.shape.n_vocab) + " entries",
                 std::to_string(key.tokenizer.vocabulary.size()));
    }
    check_tokenizer_limits(key.tokenizer, "verifying key: ");
  }
  check_token(key.filler, key.shape.n_vocab, "verifying key: filler");
  check_limit("exceptions", key.exceptions);
  check_limit("hiding_proofs", key.hiding_proofs);
  if (key.hiding_proofs > 0 && key.parameter_oracle.log_inverse_rate != 1) {  // random columns are counted for it
    refuse_key("parameter_oracle.log_inverse_rate", "1, because the key is hiding",
               std::to_string(key.parameter_oracle.log_inverse_rate));
  }
  check_limit("log_rows", key.parameter_oracle.log_rows, "parameter_oracle.log_rows");
  const std::uint64_t most = (UINT64_C(1) << 32) / (parameter_tail_columns(1) << key.parameter_oracle.log_rows);
  if (key.hiding_proofs > most) {  // also where sizes have 32 bits
    refuse_key("hiding_proofs", "at most " + std::to_string(most) + ", whose random columns have 32-bit places",
               std::to_string(key.hiding_proofs));
  }
  const std::uint32_t absent = key.parameter_oracle.absent_rows;
  if (key.hiding_proofs > 0 && absent > 0) {  // masks are constant along all rows
    refuse_key("parameter_oracle.absent_rows", "0, because the key is hiding", std::to_string(absent));
  }
  if (!has_rows(key.parameter_oracle)) {
    refuse_key("parameter_oracle.absent_rows",
               "a multiple of " + std::to_string(row_unit) + " below half of 2^" +
                   std::to_string(key.parameter_oracle.log_rows),
               std::to_string(absent));
  }
  check_oracle(parameter_layout(key), key.parameter_oracle, "parameter_oracle.");
}

void check_tokenizer_limits(const TokenizerData& tokenizer, const std::string& prefix) {
  try {
    check_tokenizer(tokenizer);
  } catch (const InputError& error) {
    throw InputError(prefix + error.what());
  }
  const Limit& most = limit_of("added token bytes");
  for (const auto* added : {&tokenizer.added, &tokenizer.added_normalized}) {
    check_limit("added tokens", added->size(), prefix + "added tokens");
    for (const std::uint32_t id : *added) {
      if (const std::size_t bytes = tokenizer.vocabulary[id].size(); !most.allows(bytes)) {
        refuse_limit(most, std::to_string(bytes), prefix + "token " + std::to_string(id) + ": bytes");
      }
    }
  }
  check_limit("prefix tokens", tokenizer.prefix.size(), prefix + "prefix");
}

void check_oracle(const OracleLayout& layout, const OracleParameters& oracle, const std::string& prefix) {
  check_limit("log_rows", oracle.log_rows, prefix + "log_rows");
  check_limit("log_inverse_rate", oracle.log_inverse_rate, prefix + "log_inverse_rate");
  check_limit("log_domain", layout.log_domain(oracle), prefix + "log_domain");
}

Digest VerifyingKey::digest() const { return key_digest(encode()); }

Digest key_digest(std::span<const std::uint8_t> bytes) { return dataset_digest(std::as_bytes(bytes)); }

}  // namespace tessera
