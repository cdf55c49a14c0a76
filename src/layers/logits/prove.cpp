#include "layers/logits/logits.hpp"
#include "sumcheck/product_relations.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {
namespace {

/// Rows of E for these tokens: (token, feature), features padded. Collective.
std::vector<E> embedding_rows(ProverContext& context, const LogitsPlan& logits, std::span<const std::uint32_t> tokens) {
  const auto* table = std::get<const ChunkedTensor<std::int16_t>*>(context.witness.parameter(logits.embedding));
  const auto& dimensions = table->shape().dimensions();
  const std::size_t features = std::size_t{1} << dimensions[1].bits();
  std::vector<E> rows(tokens.size() * features);
  for (const std::size_t chunk : table->held()) {
    const std::size_t first = table->shape().coordinate(chunk, 0) << dimensions[0].log_chunk;
    const std::size_t feature = table->shape().coordinate(chunk, 1) << dimensions[1].log_chunk;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] >= first && tokens[i] < first + dimensions[0].chunk()) {
        const auto row =
            table->chunk(chunk).subspan((tokens[i] - first) * dimensions[1].chunk(), dimensions[1].chunk());
        for (std::size_t f = 0; f < row.size(); ++f) {
          rows[i * features + feature + f] = E::from_signed(row[f]);
        }
      }
    }
  }
  context.comm.all_reduce_sum(rows);
  return rows;
}

}  // namespace

WeightedClaim run_all_logits(ProverContext& context, const LogitsPlan& logits) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("all");
  const TensorPoint at = context.lookup.point(logits.logits);
  const Factor rows = generated_rows(context.plan, at[1]);
  if (logits.bias) {
    context.parameter("bias", *logits.bias, weight_at({at[0]}));
  }
  std::vector<E> row =
      contract(context.witness.parameter(logits.embedding), context.plan.parameter_shape(logits.embedding),
               {eq_table(at[0]), Axis{}}, context.comm);
  std::vector<E> selected =
      contract(context.witness.view(logits.u), logits.feature, {Axis{}, rows.table()}, context.comm);
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(transcript, round_kernel(ProductRelation{}), {std::move(row), std::move(selected)});
  context.parameter("embedding", logits.embedding, weight_at({at[0], sumcheck.point}), sumcheck.factors[0]);
  transcript.send("selected", sumcheck.factors[1]);
  return {{Factor::at(sumcheck.point), rows}, sumcheck.factors[1]};
}

std::vector<WeightedClaim> run(ProverContext& context, const LogitsPlan& logits) {
  if (logits.sampled) {
    return run_sampled(context, logits);
  }
  if (logits.dense) {
    return run_dense(context, logits);
  }
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("logits");
  const Plan& plan = context.plan;
  const Witness& witness = context.witness;
  const TensorPoint at = context.lookup.point(logits.logits);
  const Shape& features = logits.feature;
  const unsigned feature_bits = features.dimensions()[0].bits();
  const std::vector<std::uint32_t>& tokens = context.statement.generated;
  context.committed("token_logit", logits.token_logit, weight_at({at[1]}));
  std::vector<WeightedClaim> claims;
  claims.push_back(run_all_logits(context, logits));
  // the chosen ones' are products of the rows of E at the generated tokens
  const auto token_scope = transcript.scope("chosen");
  if (logits.bias) {
    context.parameter("bias", *logits.bias, chosen_biases(logits, tokens, eq_table(at[1])));
  }
  const std::size_t rows = std::size_t{1} << at[1].size();
  const std::size_t feature_count = std::size_t{1} << feature_bits;
  const unsigned row_bits = features.dimensions()[1].bits();
  const std::vector<E> row_weights = eq_table(at[1]);
  std::vector<std::vector<E>> tables(3, std::vector<E>(feature_count * rows));
  const std::vector<E> chosen = embedding_rows(context, logits, tokens);  // (G, feature)
  const std::vector<E> u = contract(witness.view(logits.u), features, {Axis{}, Axis{}}, context.comm);
  for (std::size_t f = 0; f < feature_count; ++f) {
    for (std::size_t g = 0; g < rows; ++g) {
      tables[0][f * rows + g] = row_weights[g];
      if (g < tokens.size()) {
        tables[1][f * rows + g] = chosen[g * feature_count + f];
        tables[2][f * rows + g] = u[(f << row_bits) + plan.prompt_length + g - 1];
      }
    }
  }
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(transcript, round_kernel(TripleProductRelation{}), std::move(tables));
  const Point feature(sumcheck.point.begin(), sumcheck.point.begin() + feature_bits);
  const Point row(sumcheck.point.begin() + feature_bits, sumcheck.point.end());
  std::vector<E> weights;
  for (std::size_t g = 0; g < tokens.size(); ++g) {
    weights.push_back(eq_index(row, g));
  }
  context.parameter("embedding", logits.embedding,
                    token_rows(logits.logits.dimensions()[0].bits(), tokens, weights, feature), sumcheck.factors[1]);
  transcript.send("selected", sumcheck.factors[2]);
  claims.push_back({{Factor::at(feature), generated_rows(plan, row)}, sumcheck.factors[2]});
  return claims;
}

}  // namespace tessera
