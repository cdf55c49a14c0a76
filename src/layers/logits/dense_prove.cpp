#include "layers/logits/logits.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {
namespace {

void prove_attained(ProverContext& context, const LogitsPlan& logits) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("attained");
  const DensePlan& plan = *logits.dense;
  const Shape& shape = logits.logits;
  const Witness& witness = context.witness;
  const AttainedRelation relation{transcript.challenge("gamma")};
  const Point at = to_flat_point(shape, context.lookup.point(shape));
  const std::vector<ChunkedFactor> factors{TensorFactor{&witness[plan.weight]}, TensorFactor{&witness[plan.excess]},
                                           TensorFactor{&witness[plan.best_values]}};
  const ProvenSumcheck sumcheck = prove_chunked_sumcheck(transcript, round_kernel(relation), shape,
                                                         witness[plan.weight].ownership(), factors, at, context.comm);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  context.committed("score_weight", plan.weight.output, weight_at(end), sumcheck.factors[0]);
  requantization(context, plan.excess, end, E{});  // its pieces
  context.committed("best", plan.best, weight_at(end), sumcheck.factors[2]);
  const Point g = context.lookup.point(plan.rows)[0];
  context.ledger.add(witness_oracle, plan.best, {Factor::ones(shape.dimensions()[0].bits()), Factor::at(g)},
                     less_than(g, context.plan.generated));
}

void prove_dense_hits(ProverContext& context, const LogitsPlan& logits) {
  const DensePlan& plan = *logits.dense;
  const Point g = context.lookup.point(plan.rows)[0];
  const DenseWeights weights(plan, context.statement.generated, plan.past + context.plan.prompt_length, g);
  context.committed("weight_sum", plan.sum, weight_at({g}));
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    context.committed("weight_sum", plan.sum, {Factor::of(weights.limb(i))});
  }
  ReductionInput input{Integers::committed(plan.weight.output), {}};
  input.claims.push_back({{Factor::ones(logits.logits.dimensions()[0].bits()), Factor::at(g)}, E::zero()});
  input.claims.push_back({{}, E::zero(), nullptr, &weights.before()});
  input.claims.push_back({{}, E::zero(), nullptr, &weights.with_token()});
  const PointClaim reduced = reduce_claim(context, logits.logits, input);
  context.ledger.add(witness_oracle, plan.weight.output, weight_at(reduced.point), reduced.value);
}

}  // namespace

std::vector<WeightedClaim> run_dense(ProverContext& context, const LogitsPlan& logits) {
  const auto scope = context.transcript.scope("logits");
  const DensePlan& plan = *logits.dense;
  context.committed("score_max", plan.maximum.tensor, weight_at({context.lookup.point(logits.logits)[1]}));
  std::vector<WeightedClaim> claims;
  claims.push_back(run_all_logits(context, logits));
  const auto sampling_scope = context.transcript.scope("sampling");
  prove_attained(context, logits);
  prove_dense_hits(context, logits);
  return claims;
}

}  // namespace tessera
