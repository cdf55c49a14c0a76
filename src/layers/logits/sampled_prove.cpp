#include "layers/logits/logits.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// M(f,g) = sum_j beta(p_C,(j,g))*E[c(j,g),f] of `rows` rows, features padded, (feature, row). Collective.
std::vector<E> candidate_mixture(ProverContext& context, const LogitsPlan& logits, const SampledWeights& weights,
                                 std::size_t rows) {
  const auto* table = std::get<const ChunkedTensor<std::int16_t>*>(context.witness.parameter(logits.embedding));
  const auto& dimensions = table->shape().dimensions();
  const std::size_t features = std::size_t{1} << dimensions[1].bits();
  const Candidates& candidates = context.candidates;
  std::vector<E> mixture(features * rows);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t g = 0; g < candidates.rows(); ++g) {
    const std::span<const std::uint32_t> ids = candidates.of(g);
    for (const std::size_t chunk : table->held()) {
      const std::size_t first = table->shape().coordinate(chunk, 0) << dimensions[0].log_chunk;
      const std::size_t feature = table->shape().coordinate(chunk, 1) << dimensions[1].log_chunk;
      for (std::size_t j = 0; j < ids.size(); ++j) {
        if (ids[j] >= first && ids[j] < first + dimensions[0].chunk()) {
          const auto row = table->chunk(chunk).subspan((ids[j] - first) * dimensions[1].chunk(), dimensions[1].chunk());
          for (std::size_t f = 0; f < row.size(); ++f) {
            mixture[(feature + f) * rows + g] += weights.at(j, g) * F::from_signed(row[f]);
          }
        }
      }
    }
  }
  context.comm.all_reduce_sum(mixture);
  return mixture;
}

/// Sends the claims whose values the identities at the points of C and (G) are made of.
void send_sampling(ProverContext& context, const SampledPlan& plan, const SampledWeights& weights) {
  const auto send = [&](std::string_view label, TensorId tensor, std::vector<E> weight) {
    context.committed(label, tensor, {Factor::of(std::move(weight))});
  };
  send("candidate_logit", plan.logit.tensor, weights.order());
  send("candidate_score", plan.score.tensor, weights.distance());
  send("candidate_score", plan.score.tensor, weights.near());
  send("candidate_score", plan.score.tensor, weights.far());
  send("candidate_weight", plan.weight.output, weights.top_low());
  send("candidate_weight", plan.weight.output, weights.top_high());
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    send("candidate_weight", plan.weight.output, weights.limb(i));
  }
  send("candidate_weight", plan.weight.output, weights.up_to(false));
  send("candidate_weight", plan.weight.output, weights.up_to(true));
}

}  // namespace

std::vector<WeightedClaim> run_sampled(ProverContext& context, const LogitsPlan& logits) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("logits");
  const SampledPlan& plan = *logits.sampled;
  const TensorPoint at = context.lookup.point(logits.logits);
  const SampledWeights weights(plan, context.candidates, plan.past + context.plan.prompt_length,
                               context.lookup.point(plan.candidates)[0], context.lookup.point(plan.rows)[0]);
  context.committed("candidate_logit", plan.logit.tensor, {Factor::of(weights.boundary(at, logits.n_vocab).weight)});
  std::vector<WeightedClaim> claims;
  claims.push_back(run_all_logits(context, logits));
  {
    const auto chosen_scope = transcript.scope("chosen");
    if (logits.bias) {
      context.parameter("bias", *logits.bias, chosen_biases(logits, context.candidates.ids, weights.of_candidates()));
    }
    const std::size_t rows = std::size_t{1} << at[1].size();
    const unsigned feature_bits = logits.feature.dimensions()[0].bits();
    const unsigned token_bits = logits.feature.dimensions()[1].bits();
    const std::vector<E> u = contract(context.witness.view(logits.u), logits.feature, {Axis{}, Axis{}}, context.comm);
    std::vector<E> selected(rows << feature_bits);
    for (std::size_t f = 0; f < selected.size() / rows; ++f) {
      for (std::size_t g = 0; g < context.plan.generated; ++g) {
        selected[f * rows + g] = u[(f << token_bits) + context.plan.prompt_length + g - 1];
      }
    }
    const ProvenSumcheck sumcheck =
        prove_dense_sumcheck(transcript, round_kernel(ProductRelation{}),
                             {candidate_mixture(context, logits, weights, rows), std::move(selected)});
    const Point feature(sumcheck.point.begin(), sumcheck.point.begin() + feature_bits);
    const Point row(sumcheck.point.begin() + feature_bits, sumcheck.point.end());
    context.parameter("embedding", logits.embedding,
                      weights.embedding_rows(logits.logits.dimensions()[0].bits(), row, feature), sumcheck.factors[0]);
    transcript.send("selected", sumcheck.factors[1]);
    claims.push_back({{Factor::at(feature), generated_rows(context.plan, row)}, sumcheck.factors[1]});
  }
  const auto sampling_scope = transcript.scope("sampling");
  send_sampling(context, plan, weights);
  return claims;
}

}  // namespace tessera
