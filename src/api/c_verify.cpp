#include <tessera/verify.h>

#include <cstring>
#include <memory>
#include <new>

#include "api/names.hpp"
#include "archive/isolated.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "plan/limits.hpp"
#include "protocol/protocol.hpp"
#include "tokenizer/decode.hpp"

struct tessera_result {
  tessera_verdict verdict = TESSERA_FAILED;
  std::string scope, reason;
  std::optional<tessera::Statement> statement;
  std::optional<std::string> prompt_text, generated_text;
  std::optional<tessera::Digest> key_digest;
  double soundness_least = 0;
  double soundness_sum = 0;
  tessera_state kept{};  // of length 0 where nothing is kept
  std::optional<std::uint32_t> ended_by;
  std::vector<tessera::ClampedValues> clamped_values;
  std::vector<tessera_clamped> clamped;  // their names are those
  tessera_sampling sampling{};           // the statement's, if it has one
};

namespace tessera {
namespace {

std::span<const std::uint8_t> bytes_of(const char* name, const void* data, std::size_t size) {
  if (data == nullptr || size == 0) {
    throw InputError(std::string(name) + ": expected bytes, found " + (data == nullptr ? "NULL" : "a size of 0"));
  }
  return {static_cast<const std::uint8_t*>(data), size};
}

std::vector<std::uint32_t> ids_of(const char* name, const std::uint32_t* ids, std::size_t count) {
  if (ids == nullptr && count != 0) {
    throw InputError(std::string("statement: ") + name + ": expected " + std::to_string(count) +
                     " token ids, found NULL");
  }
  if (count > max_positions) {
    throw InputError(std::string("statement: ") + name + ": expected at most " + std::to_string(max_positions) +
                     " token ids, found " + std::to_string(count));
  }
  return count == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>(ids, ids + count);
}

ConversationState state_of(const tessera_state& state) {
  ConversationState result{{}, state.length, state.last_token};
  std::memcpy(result.root.data(), state.root, sizeof state.root);
  return result;
}

Before before_of(const tessera_state* before) {
  if (before == nullptr || before->length == 0) {
    return {before != nullptr};
  }
  return {true, state_of(*before)};
}

Statement statement_of(const tessera_statement* statement) {
  if (statement == nullptr) {
    throw InputError("statement: expected one, found NULL");
  }
  return {ids_of("prompt", statement->prompt, statement->prompt_count),
          ids_of("generated", statement->generated, statement->generated_count),
          statement->start == nullptr ? std::nullopt : std::optional(state_of(*statement->start)),
          statement->keeps != 0, statement->pass_length};
}

std::optional<Sampling> sampling_of(const tessera_sampling* sampling) {
  if (sampling == nullptr) {
    return std::nullopt;
  }
  Sampling result{sampling->inverse_temperature, sampling->top_k, sampling->top_p, sampling->cutoff, {}};
  std::memcpy(result.seed.data(), sampling->seed, sizeof sampling->seed);
  return result;
}

/// Nothing where an id is not in the vocabulary: a proof's statement may name any.
std::optional<std::string> text_of(const VerifyingKey& key, const std::vector<std::uint32_t>& ids) {
  try {
    return decode(key.tokenizer, ids);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void reject(tessera_result& result, const std::string& scope, const std::string& reason) {
  result.verdict = TESSERA_REJECTED;
  result.scope = scope;
  result.reason = one_line(reason);
}

/// What the statement says beyond ids.
void know_sampling(tessera_result& result) {
  if (const auto& sampling = result.statement->sampling) {
    result.sampling = {sampling->inverse_temperature, sampling->top_k, sampling->top_p, sampling->cutoff, {}};
    std::memcpy(result.sampling.seed, sampling->seed.data(), sizeof result.sampling.seed);
  }
}

void know_texts(tessera_result& result, const VerifyingKey& key) {
  result.prompt_text = text_of(key, result.statement->prompt);
  result.generated_text = text_of(key, result.statement->generated);
}

void judge(tessera_result& result, const IdentifiedKey& key, std::span<const std::uint8_t> payload,
           const tessera_state* before) {
  const Statement& statement = *result.statement;
  const Verdict verdict = tessera::judge(key, key.digest, statement, payload, before_of(before));
  if (!verdict.accepted) {
    reject(result, verdict.scope, verdict.reason);
    return;
  }
  const SoundnessReport report = soundness_report(ModelPlan::of(key.key, statement), key.key);
  result.soundness_least = report.round_by_round_bits();
  result.soundness_sum = report.union_bits();
  if (const auto& kept = verdict.kept) {
    result.kept = {{}, kept->length, kept->last_token};
    std::memcpy(result.kept.root, kept->root.data(), sizeof result.kept.root);
  }
  result.ended_by = verdict.ended_by;
  result.clamped_values = verdict.clamped;
  for (const ClampedValues& values : result.clamped_values) {
    result.clamped.push_back({values.tensor.c_str(), values.count});
  }
  result.verdict = TESSERA_ACCEPTED;
}

void fail(tessera_result& result, tessera_verdict verdict, const char* reason) {
  result.verdict = verdict;
  result.reason = one_line(reason);
}

/// Lets body(result) fill in what it finds out; whatever it throws becomes a verdict.
template <class Body>
tessera_verdict answer(tessera_result** out, const Body& body) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  try {
    auto result = std::make_unique<tessera_result>();
    try {
      body(*result);
    } catch (const InputError& error) {
      fail(*result, TESSERA_UNUSABLE, error.what());
    } catch (const std::bad_alloc&) {
      fail(*result, TESSERA_FAILED, "out of memory");
    } catch (const std::exception& error) {
      fail(*result, TESSERA_FAILED, error.what());
    }
    const tessera_verdict verdict = result->verdict;
    if (out != nullptr) {
      *out = result.release();
    }
    return verdict;
  } catch (...) {
    return TESSERA_FAILED;
  }
}

const std::uint32_t* give(const std::vector<std::uint32_t>* ids, std::size_t* count) {
  if (count != nullptr) {
    *count = ids == nullptr ? 0 : ids->size();
  }
  return ids == nullptr || ids->empty() ? nullptr : ids->data();
}

const char* give(const std::optional<std::string>* text, std::size_t* size) {
  const bool known = text != nullptr && text->has_value();
  if (size != nullptr) {
    *size = known ? (*text)->size() : 0;
  }
  return known ? (*text)->c_str() : nullptr;
}

const Statement* statement_in(const tessera_result* result) {
  return result != nullptr && result->statement ? &*result->statement : nullptr;
}

}  // namespace
}  // namespace tessera

tessera_verdict tessera_verify_files(const void* key, size_t key_size, const void* proof, size_t proof_size,
                                     const tessera_state* before, tessera_result** result) {
  using namespace tessera;
  return answer(result, [&](tessera_result& found) {
    const std::span<const std::uint8_t> key_file = bytes_of(key_name, key, key_size);
    const std::span<const std::uint8_t> proof_file = bytes_of(proof_name, proof, proof_size);
    const IdentifiedKey decoded = load_key_isolated(key_name, key_file);
    found.key_digest = decoded.digest;
    StoredProof stored = load_proof_isolated(proof_name, proof_file);
    found.statement = std::move(stored.statement);
    know_sampling(found);
    if (stored.key_digest != *found.key_digest) {  // whose vocabulary says nothing of this one's ids
      reject(found, "/statement", made_for_another_key);
      return;
    }
    know_texts(found, decoded.key);
    judge(found, decoded, stored.payload, before);
  });
}

tessera_verdict tessera_verify_parts(const void* key, size_t key_size, const tessera_statement* statement,
                                     const void* payload, size_t payload_size, const tessera_state* before,
                                     tessera_result** result) {
  return tessera_verify_sampled_parts({key, key_size}, statement, nullptr, {payload, payload_size}, before, result);
}

tessera_verdict tessera_verify_sampled_parts(tessera_bytes key, const tessera_statement* statement,
                                             const tessera_sampling* sampling, tessera_bytes payload,
                                             const tessera_state* before, tessera_result** result) {
  using namespace tessera;
  return answer(result, [&](tessera_result& found) {
    const std::span<const std::uint8_t> payload_bytes = bytes_of("payload", payload.data, payload.size);
    Statement given = statement_of(statement);
    given.sampling = sampling_of(sampling);
    const IdentifiedKey decoded = IdentifiedKey::decode(bytes_of(key_name, key.data, key.size));
    found.key_digest = decoded.digest;
    found.statement = std::move(given);
    know_sampling(found);
    know_texts(found, decoded.key);
    judge(found, decoded, payload_bytes, before);
  });
}

tessera_verdict tessera_result_verdict(const tessera_result* result) {
  return result == nullptr ? TESSERA_FAILED : result->verdict;
}

const char* tessera_result_scope(const tessera_result* result) {
  return result == nullptr ? "" : result->scope.c_str();
}

const char* tessera_result_reason(const tessera_result* result) {
  return result == nullptr ? "" : result->reason.c_str();
}

const uint32_t* tessera_result_prompt(const tessera_result* result, size_t* count) {
  const tessera::Statement* const statement = tessera::statement_in(result);
  return tessera::give(statement == nullptr ? nullptr : &statement->prompt, count);
}

const uint32_t* tessera_result_generated(const tessera_result* result, size_t* count) {
  const tessera::Statement* const statement = tessera::statement_in(result);
  return tessera::give(statement == nullptr ? nullptr : &statement->generated, count);
}

const tessera_sampling* tessera_result_sampling(const tessera_result* result) {
  const tessera::Statement* const statement = tessera::statement_in(result);
  return statement == nullptr || !statement->sampling ? nullptr : &result->sampling;
}

const char* tessera_result_prompt_text(const tessera_result* result, size_t* size) {
  return tessera::give(result == nullptr ? nullptr : &result->prompt_text, size);
}

const char* tessera_result_generated_text(const tessera_result* result, size_t* size) {
  return tessera::give(result == nullptr ? nullptr : &result->generated_text, size);
}

const uint8_t* tessera_result_key_digest(const tessera_result* result) {
  return result == nullptr || !result->key_digest ? nullptr : result->key_digest->data();
}

double tessera_result_soundness_least(const tessera_result* result) {
  return result == nullptr ? 0 : result->soundness_least;
}

double tessera_result_soundness_sum(const tessera_result* result) {
  return result == nullptr ? 0 : result->soundness_sum;
}

const tessera_state* tessera_result_kept(const tessera_result* result) {
  static constexpr tessera_state nothing{};
  return result == nullptr ? &nothing : &result->kept;
}

const tessera_clamped* tessera_result_clamped(const tessera_result* result, size_t* count) {
  const bool known = result != nullptr && !result->clamped.empty();
  if (count != nullptr) {
    *count = known ? result->clamped.size() : 0;
  }
  return known ? result->clamped.data() : nullptr;
}

const uint32_t* tessera_result_ended_by(const tessera_result* result) {
  return result == nullptr || !result->ended_by ? nullptr : &*result->ended_by;
}

void tessera_result_free(tessera_result* result) { delete result; }

const char* tessera_version() { return TESSERA_VERSION; }

uint32_t tessera_format_version() { return tessera::format_version; }
