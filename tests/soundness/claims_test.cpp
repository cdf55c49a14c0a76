#include <gtest/gtest.h>

#include "fixture.hpp"

namespace tessera::test {
namespace {

struct Proven {
  std::unique_ptr<Forgery> forgery;
  ProofClaims claims;
};

const Proven& proven() {
  static const Proven result = [] {
    TestModel& test = odd_model();
    Proven made;
    made.forgery = std::make_unique<Forgery>(test, odd_statement(), odd_plan(), odd_trace());
    const Proof proof = made.forgery->prove();
    VerifierTranscript transcript(statement_seed(test.key, odd_statement()), proof.payload);
    made.claims = verify_layers(made.forgery->plan, odd_statement(), transcript);
    return made;
  }();
  return result;
}

/// <w, T> straight from the definition, over the values of the present chunks.
E naive_claim(const IntegerTensor& tensor, const Shape& shape, const std::vector<Factor>& weight) {
  std::vector<std::vector<E>> tables;
  for (const Factor& factor : weight) {
    tables.push_back(factor.table());
  }
  return std::visit(
      [&](const auto* values) {
        E sum;
        for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
          for (std::size_t x = 0; x < shape.chunk_size(); ++x) {
            E product(F::from_signed(values->chunk(chunk)[x]));
            std::size_t rest = x;
            for (std::size_t d = shape.dimensions().size(); d-- > 0;) {
              const unsigned bits = shape.dimensions()[d].log_chunk;
              const std::size_t inner = rest & ((std::size_t{1} << bits) - 1);
              rest >>= bits;
              product *= tables[d][(shape.coordinate(chunk, d) << bits) + inner];
            }
            sum += product;
          }
        }
        return sum;
      },
      tensor);
}

/// Each claim by itself, so that none holds only in the batch.
TEST(Claims, every_claim_of_an_honest_proof_is_true) {
  const ModelPlan& plan = proven().forgery->plan;
  const Witness& witness = *proven().forgery->witness;
  for (const Claim& claim : proven().claims.ledger[witness_oracle]) {
    EXPECT_EQ(naive_claim(witness.tensors[claim.tensor], plan.witness_shapes[claim.tensor], claim.weight), claim.value)
        << plan.witness_names[claim.tensor];
  }
  for (const Claim& claim : proven().claims.ledger[parameter_oracle]) {
    EXPECT_EQ(
        naive_claim(witness.parameters[claim.tensor], plan.parameter_layout.tensors()[claim.tensor], claim.weight),
        claim.value)
        << claim.tensor;
  }
}

/// A claim that verifier and prover both forget leaves a value that nothing binds: every use of a tensor is counted.
TEST(Claims, every_use_of_a_committed_tensor_is_claimed) {
  const ModelPlan& plan = proven().forgery->plan;
  std::vector<std::size_t> parameters(plan.parameter_layout.tensors().size());
  for (const Claim& claim : proven().claims.ledger[parameter_oracle]) {
    ++parameters[claim.tensor];
  }
  // the embedding: input rows, all logits, chosen logits
  for (std::size_t id = 0; id < parameters.size(); ++id) {
    EXPECT_EQ(parameters[id], id == plan.parameter_index[embedding] ? 3U : 1U) << id;
  }

  std::vector<std::size_t> found(plan.witness_shapes.size());
  for (const Claim& claim : proven().claims.ledger[witness_oracle]) {
    ++found[claim.tensor];
  }
  // at the look-up point, every committed tensor once (but the chosen logits, which are not looked up and have one
  // use); then its uses by the layers
  std::vector<std::size_t> expected(plan.witness_shapes.size(), 1);
  for (const LayerNormPlan* norm : {&layer_norm(plan.norm_1), &layer_norm(plan.norm_2), &layer_norm(plan.norm_final)}) {
    expected[norm->mu.tensor] += 2;       // token identity, normalization
    expected[norm->sigma.tensor] += 1;    // token identity
    expected[norm->inverse.tensor] += 2;  // token identity, normalization
  }
  expected[plan.x_in.tensor] += 4 + 2;   // two sums, values and squares of its layer norm; next block, embedding
  expected[plan.x_mid.tensor] += 4;      // its layer norm
  expected[plan.x_end.tensor] += 4 + 1;  // its layer norm; output of the last block
  expected[plan.attention.row_max.tensor] += 1;
  expected[plan.attention.row_inverse.tensor] += 2;  // normalization, division
  expected[plan.attention.exponential.output] += 3;  // two row sums, values
  expected[gpt2_mlp(plan.mlp).gelu.output] += 1;
  // remainders that are needed at another point than the look-up's
  for (const RangeId remainder : std::initializer_list<RangeId>{
           layer_norm(plan.norm_1).u_remainder, layer_norm(plan.norm_2).u_remainder,
           layer_norm(plan.norm_final).u_remainder, gpt2_qkv(plan.qkv).remainder[0], gpt2_qkv(plan.qkv).remainder[1],
           gpt2_qkv(plan.qkv).remainder[2], plan.attention.y_remainder}) {
    for (const TensorId piece : plan.ranges[remainder.range].committed) {
      expected[piece] += 1;
    }
  }
  for (std::size_t id = 0; id < found.size(); ++id) {
    EXPECT_EQ(found[id], expected[id]) << plan.witness_names[id];
  }
}

/// Every column and every virtual value appears in the look-up structure at its exact width
/// (src/spec/protocol.md, section 2).
TEST(Claims, widths_are_exact) {
  const ModelPlan& plan = proven().forgery->plan;
  const IntegerConstants& constants = plan.constants;
  const auto expect_width = [&](RangeId id, unsigned width, bool is_signed) {
    const RangeCheck& range = plan.ranges[id.range];
    EXPECT_EQ(range.width, width) << range.name;
    EXPECT_EQ(range.offset, is_signed ? std::int64_t{1} << (width - 1) : 0) << range.name;
    unsigned total = 0;
    for (std::size_t i = 0; i < range.columns.size(); ++i) {
      const LookupTable& table = plan.lookup.tables[plan.lookup.columns[range.columns[i]].table];
      EXPECT_TRUE(table.values.empty()) << range.name;
      EXPECT_TRUE(i + 1 == range.columns.size() ? table.log_size <= 16 : table.log_size == 16) << range.name;
      total += table.log_size;
    }
    EXPECT_EQ(total, width) << range.name;
  };
  EXPECT_EQ(constants.kappa, 7U);           // 48 positions
  EXPECT_EQ(constants.residual_bits, 27U);  // min(27, (62 - 6)/2 + 1)
  for (const LayerNormPlan* norm : {&layer_norm(plan.norm_1), &layer_norm(plan.norm_2), &layer_norm(plan.norm_final)}) {
    expect_width(norm->mu.checked, 27, true);
    expect_width(norm->mean_remainder, 6, false);
    expect_width(norm->mean_complement, 6, false);
    expect_width(norm->sigma.checked, 31, false);
    expect_width(norm->root_remainder, 32, false);
    expect_width(norm->root_complement, 32, false);
    // C*2^14 = 393216*2^14, eps' = round(36*1e-5*2^24) = 6040: floor(6442450944/77) has 27 bits
    expect_width(norm->inverse.checked, 27, false);
    expect_width(norm->inverse_remainder, 31, false);
    expect_width(norm->inverse_complement, 31, false);
    expect_width(norm->u, 16, true);
    expect_width(norm->u_remainder, static_cast<unsigned>(norm->shift), false);
  }
  for (const RangeId range : {plan.x_in.checked, plan.x_mid.checked, plan.x_end.checked}) {
    expect_width(range, 27, true);
  }
  for (const RangeId range : std::initializer_list<RangeId>{gpt2_qkv(plan.qkv).value[0], gpt2_qkv(plan.qkv).value[1],
                                                            gpt2_qkv(plan.qkv).value[2], plan.attention.y}) {
    expect_width(range, 16, true);
  }
  const Exponents& e = plan.exponents;
  const auto bits = [](int shift) { return static_cast<unsigned>(shift); };
  const unsigned score_shift = bits(e[scales::q] + e[scales::k] - e[scales::score]);
  expect_width(plan.attention.row_max.checked, 4 + 32 - score_shift, true);  // 12 places
  expect_width(gpt2_qkv(plan.qkv).remainder[0], bits(e[wq] + e[scales::u1] - e[scales::q]), false);
  expect_width(gpt2_qkv(plan.qkv).remainder[1], bits(e[wk] + e[scales::u1] - e[scales::k]), false);
  expect_width(gpt2_qkv(plan.qkv).remainder[2], bits(e[wv] + e[scales::u1] - e[scales::v]), false);
  expect_width(plan.attention.score_remainder, score_shift, false);
  expect_width(plan.projection.remainder, bits(e[wo] + e[scales::v] - e[scales::residual]), false);
  expect_width(gpt2_mlp(plan.mlp).remainder, bits(e[w1] + e[scales::u2] - e[scales::mlp]), false);
  expect_width(gpt2_mlp(plan.mlp).out_remainder, bits(e[w2] + e[scales::gelu] - e[scales::residual]), false);
  expect_width(plan.attention.y_remainder, 46, false);
  expect_width(plan.attention.row_inverse.checked, 46 - 7 - 15, false);
  expect_width(plan.attention.division_remainder, 16 + 7 + 4, false);
  expect_width(plan.attention.division_complement, 16 + 7 + 4, false);
  expect_width(plan.attention.row_sum_quotient.checked, 16 + 4, false);
  expect_width(plan.attention.maximum_count, 7 - 1, false);
  expect_width(plan.logits.difference, 48, false);
  // every range is looked up, none twice
  EXPECT_EQ(plan.lookup.columns.size(), [&] {
    std::size_t columns = 2;  // EXP and GELU
    for (const RangeCheck& range : plan.ranges) {
      columns += range.columns.size();
    }
    return columns;
  }());
}

}  // namespace
}  // namespace tessera::test
