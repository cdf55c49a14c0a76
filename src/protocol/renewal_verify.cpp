#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "base/out_of_memory.hpp"
#include "plan/hiding.hpp"
#include "plan/limits.hpp"
#include "protocol/protocol.hpp"
#include "protocol/renewal.hpp"
#include "protocol/renewal_claims.hpp"

namespace tessera {
namespace {

/// Everything. Throws Rejected.
void verify_all(const RenewalPlan& plan, VerifierView<E>& transcript) {
  const std::vector<CommittedOracle> oracles = plan.oracles(transcript.receive_digest("masks"));
  const std::vector<LinearForm> forms =
      renewal_forms(plan, [&] { return transcript.challenge("point", 1, "tensors are compared at a point"); });
  verify_equality_opening(transcript, oracles, forms, RenewalPlan::row_masks);
}

}  // namespace

RenewalPlan RenewalPlan::of(const VerifyingKey& old_key, const VerifyingKey& new_key, const Division& division) {
  if (old_key.hiding_proofs == 0 || new_key.hiding_proofs == 0) {
    throw InputError("renewal: expected two hiding keys, found one that is not");
  }
  VerifyingKey same = new_key;
  same.parameter_root = old_key.parameter_root;
  same.parameter_oracle = old_key.parameter_oracle;
  same.hiding_proofs = old_key.hiding_proofs;
  if (same.digest() != old_key.digest()) {
    throw InputError("renewal: expected keys that differ in root, rows and number of proofs, found more differences");
  }
  if (old_key.parameter_root == new_key.parameter_root) {
    throw InputError("renewal: expected two commitments, found the same parameter root in both keys");
  }
  RenewalPlan plan{.parameters = {parameter_layout(old_key, division), parameter_layout(new_key, division)},
                   .committed = {},
                   .masks = {},
                   .mask_oracle = {.log_rows = 3, .log_inverse_rate = 1}};
  const std::array<const VerifyingKey*, 2> keys{&old_key, &new_key};
  const unsigned rows = plan.mask_oracle.log_rows;
  plan.row_variables = rows;
  for (std::size_t side = 0; side < keys.size(); ++side) {
    const OracleParameters& oracle = keys[side]->parameter_oracle;
    plan.committed[side] = {plan.parameters[side], oracle, keys[side]->parameter_root, salt_elements};
    plan.row_variables = std::max(plan.row_variables, oracle.log_rows);
  }
  plan.masks = OracleLayout(
      {columns_shape(2 * hiding_row_masks(plan.row_variables), rows), columns_shape(parameter_tail_columns(1), rows)});
  return plan;
}

std::vector<CommittedOracle> RenewalPlan::oracles(const Digest& mask_root) const {
  return {committed[0], committed[1], {masks, mask_oracle, mask_root, salt_elements}};
}

Digest renewal_seed(const VerifyingKey& old_key, const VerifyingKey& new_key) {
  constexpr std::string_view name = "tessera renewal";
  std::vector<std::uint8_t> message(name.begin(), name.end());
  append_little_endian(message, format_version);
  for (const VerifyingKey* key : {&old_key, &new_key}) {
    const Digest digest = key->digest();
    message.insert(message.end(), digest.begin(), digest.end());
  }
  return blake2s(message);
}

SoundnessReport renewal_soundness(const RenewalPlan& plan) {
  AccountingTranscript transcript;
  verify_all(plan, transcript);
  return transcript.release().soundness();
}

Verdict verify_renewal(const VerifyingKey& old_key, const VerifyingKey& new_key,
                       std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(renewal_seed(old_key, new_key), payload);
  Verdict verdict;
  try {
    const RenewalPlan plan = RenewalPlan::of(old_key, new_key);
    if (renewal_soundness(plan).round_by_round_bits() < required_soundness_bits) {
      return {false, "/soundness", "these keys have less than the required soundness", {}, {}};
    }
    verify_all(plan, transcript);
    transcript.finish();
    verdict.accepted = true;
  } catch (const InputError& error) {
    verdict.scope = "/statement";
    verdict.reason = error.what();
  } catch (const Rejected& rejected) {
    verdict.scope = rejected.scope();
    verdict.reason = rejected.what();
  } catch (const std::exception& error) {
    pass_on_out_of_memory(error);
    verdict.scope = "/internal";
    verdict.reason = error.what();
  }
  verdict.timings = transcript.timings();
  return verdict;
}

Verdict verify_renewal(const IdentifiedKey& old_key, const Digest& named, const IdentifiedKey& new_key,
                       std::span<const std::uint8_t> payload) {
  if (named != old_key.digest) {
    return {false, "/statement", "it renews another key than the one before it", {}, {}};
  }
  return verify_renewal(old_key.key, new_key.key, payload);
}

}  // namespace tessera
