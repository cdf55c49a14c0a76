#include "protocol/protocol.hpp"

#include <cmath>

#include "plan/context.hpp"

namespace tessera {
namespace {

constexpr double field_bits = 128.0;

/// Claims that the layers add to those of the look-up: at most this many in every model.
constexpr std::size_t layer_claims = 96;

/// A sum-check of the layers; an eq factor counts towards the degree.
struct LayerSumcheck {
  std::string scope;
  std::size_t rounds = 0;
  std::size_t degree = 0;
};

std::vector<LayerSumcheck> layer_sumchecks(const Plan& plan) {
  const std::size_t block = plan.shapes.block_feature.dimensions()[0].bits();
  const std::size_t feature = plan.shapes.block_feature.dimensions()[1].bits();
  const std::size_t inner = plan.shapes.block_inner.dimensions()[1].bits();
  const std::size_t row = plan.logits.dimensions()[1].bits();
  const std::size_t place = plan.head_feature.dimensions()[1].bits();
  const std::string attention = "/self_attention/attention";
  std::vector<LayerSumcheck> sumchecks{
      {"/final/logits/all", feature, 2},
      {"/final/logits/chosen", feature + row, 3},
      {"/feed_forward/mlp/product (W2)", block + inner, 3},
      {"/feed_forward/mlp/product (W1)", block + feature, 3},
      {"/self_attention/projection/product", block + feature, 3},
      {attention + "/reduce", plan.head_feature.bits(), 2},
      {attention + " (normalization)", plan.head_feature.bits(), 3},
      {attention + "/rows", plan.shapes.block_row.bits(), 3},
      {attention + "/values", plan.shapes.block_row.bits(), 3},
      {attention + "/mask", plan.shapes.scores.bits(), 3},
      {attention + "/scores", block + place, 3},
      {"/self_attention/qkv/reduce", plan.shapes.block_qkv.bits(), 2},
      {"/self_attention/qkv/product", block + feature, 3},
  };
  const std::array<std::string, 3> parts{"/self_attention", "/feed_forward", "/final"};
  for (const LayerNormPlan* norm : {&plan.ln1, &plan.ln2, &plan.lnf}) {
    const std::string scope = parts[norm->number] + "/layer_norm";
    sumchecks.push_back({scope + "/reduce", norm->activation.bits(), 2});
    sumchecks.push_back({scope + "/token", norm->token.bits(), 3});
    sumchecks.push_back({scope, norm->activation.bits(), 4});
  }
  return sumchecks;
}

}  // namespace

SoundnessReport soundness_report(const Plan& plan, const VerifyingKey& key) {
  SoundnessReport report;
  const auto add = [&](const std::string& scope, const std::string& reason, double numerator) {
    report.entries.push_back({scope, reason, field_bits - std::log2(numerator)});
  };
  for (const SoundnessEntry& entry : lookup_soundness(plan.lookup)) {
    report.entries.push_back(entry);
  }
  for (const LayerSumcheck& sumcheck : layer_sumchecks(plan)) {
    if (sumcheck.rounds == 0) {
      continue;
    }
    add(sumcheck.scope,
        std::to_string(sumcheck.rounds) + " sum-check rounds, each " + std::to_string(sumcheck.degree) + "/|E|",
        static_cast<double>(sumcheck.rounds * sumcheck.degree));
  }
  add("/layers", "identities of committed tensors at the look-up point, variables/|E| each, 4 times",
      static_cast<double>(4 * plan.shapes.block_feature.bits() + plan.logits.bits()));
  add("/layers", "combination of at most 6 claims on tensors of one shape, 5/|E| each, 5 reductions", 25);
  add("/layers", "combination of two identities or of q, k, v, 2/|E| each, 7 times", 14);

  ClaimLedger ledger;
  LookupClaims none;
  none.point.resize(plan.lookup.slots().log_leaves);
  none.a.resize(plan.lookup.columns.size());
  none.b.resize(plan.lookup.columns.size());
  none.multiplicity.resize(plan.lookup.tables.size());
  LookupValues(plan, none).add_claims(ledger);
  const std::array oracles{CommittedOracle{plan.parameter_layout, key.parameter_oracle, {}},
                           CommittedOracle{plan.witness_layout, plan.witness_oracle, {}}};
  for (const SoundnessEntry& entry :
       opening_soundness(oracles, ledger.witness.size() + ledger.parameters.size() + layer_claims)) {
    report.entries.push_back(entry);
  }
  return report;
}

}  // namespace tessera
