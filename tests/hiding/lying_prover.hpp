#pragma once

#include "words/salted_leaves.hpp"
#include "hiding_job.hpp"
#include "other_masks.hpp"
#include "plan/prover_context.hpp"
#include "subprotocols/pad_products.hpp"
#include "sumcheck/dense.hpp"

namespace tessera::test {

/// What a prover of a true statement does otherwise than prove_hidden_witness().
struct HidingLie {
  /// Cells that are committed to: copies of HidingWitness::tensors(), by HidingPlan::Tensor.
  std::function<void(std::vector<ChunkedTensor<std::int64_t>>&)> cells = {};
  /// Products whose proof is made as if they were these: left*right and the pair's at the end, zeros.
  std::function<void(std::vector<E>&)> products = {};
  /// Factors of the products, committed to as they are now and proven with.
  std::function<void(std::vector<E>& left, std::vector<E>& right)> factors = {};
  /// Row masks that the opening is made with.
  std::function<void(std::vector<E>&)> row_masks = {};
  /// Vectors of the opening.
  VectorLie vectors = {};
};

/// Blocks of leaves that are what they are, for a rank that is alone.
class GivenLeaves final : public LeafExtras {
 public:
  GivenLeaves(const LeafExtras& leaves, unsigned log_domain)
      : LeafExtras(leaves.count()), blocks_(block << log_domain) {
    leaves.fill({log_domain}, ResidueShares(log_domain, 0, 1), {0, 1}, blocks_);
  }
  [[nodiscard]] std::span<F> blocks() { return blocks_; }
  void fill(const WordDomain& /*domain*/, const ResidueShares& positions, Range classes,
            std::span<F> blocks) const override {
    for (std::size_t position = 0; position < blocks_.size() / block; ++position) {
      if (classes.contains(positions.class_of(position))) {
        const std::size_t place = positions.gathered_place(position) - (classes.first << positions.log_size());
        std::copy_n(blocks_.data() + position * block, block, blocks.data() + place * block);
      }
    }
  }
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions) const override {
    std::vector<F> found;
    for (const std::size_t position : positions) {
      const std::span<const F> own = std::span(blocks_).subspan(position * block, block);
      found.insert(found.end(), own.begin(), own.end());
    }
    return found;
  }

 private:
  std::vector<F> blocks_;
};

inline Proof prove_lie(HidingJob& job, const HidingLie& lie) {
  const ModelPlan& plan = job.plan;
  const HidingPlan& hiding = *plan.hiding;
  Communicator& comm = job.test.comm;
  const Digest seed{9};
  const Digest statement_digest = statement_seed(job.test.key, job.statement);
  ProverTranscript transcript(statement_digest);
  const HidingWitness random(hiding, plan.witness_oracle, seed, comm);
  const KeyedStream stream(seed, "vector masks");
  std::vector<ChunkedTensor<std::int64_t>> cells;
  for (const IntegerTensor& tensor : random.tensors()) {
    cells.push_back(*std::get<const ChunkedTensor<std::int64_t>*>(tensor));
  }
  std::vector<E> left = random.left(), right = random.right();
  if (lie.factors) {
    lie.factors(left, right);
    for (std::size_t k = 0; k < left.size(); ++k) {
      const auto set = [k](ChunkedTensor<std::int64_t>& tensor, E value) {
        tensor.values()[2 * k] = signed_value(value.c0);
        tensor.values()[2 * k + 1] = signed_value(value.c1);
      };
      set(cells[HidingPlan::left], left[k]);
      set(cells[HidingPlan::right], right[k]);
    }
  }
  if (lie.cells) {
    lie.cells(cells);
  }
  std::vector<IntegerTensor> tensors = job.witness->tensors;
  for (const auto& tensor : cells) {
    tensors.emplace_back(&tensor);
  }
  const auto codeword =
      commit_oracle(plan.witness_layout, plan.witness_oracle, tensors, comm, default_codeword_budget,
                    std::make_shared<SaltedLeaves>(std::make_shared<KeyedStream>(seed, "salt"), salt_elements));
  transcript.send("witness", codeword->root());
  transcript.begin_pads(random.pads());
  ClaimLedger ledger(plan.pass);
  const LookupValues lookup(
      plan, prove_lookup(transcript, plan.lookup, job.witness->columns, job.witness->multiplicities, comm));
  lookup.add_claims(ledger);
  ProverContext context{plan, job.statement, transcript, lookup, ledger, *job.witness, comm};
  walk(context, plan);
  if (lie.products) {
    const auto scope = transcript.scope("pads");
    std::vector<E> products;
    for (std::size_t k = 0; k < random.left().size(); ++k) {
      products.push_back(random.left()[k] * random.right()[k]);
    }
    lie.products(products);
    Point tau(hiding.log_products);
    std::ranges::generate(tau, [&] { return transcript.challenge("tau"); });
    const ProvenSumcheck proven = prove_dense_sumcheck(transcript, round_kernel(PadProductRelation{}),
                                                       {random.left(), random.right(), products}, tau);
    transcript.send_public("factors", std::span(proven.factors).first(2));
    transcript.send("product", proven.factors[2]);
  } else {
    prove_pad_products(context, left, right);
  }
  transcript.end_pads();
  VerifierTranscript verifier(statement_digest, transcript.payload());
  const HiddenProof hidden = verify_hidden_layers(plan, job.statement, verifier);
  std::vector<IntegerTensor> parameters = job.witness->parameters;
  parameters.emplace_back(&*job.test.random_tail);
  const std::vector<OracleWitness> witnesses{{std::move(parameters), job.test.codeword.get()},
                                             {tensors, codeword.get()}};
  std::vector<E> row_masks = random.row_masks();
  if (lie.row_masks) {
    lie.row_masks(row_masks);
  }
  const LyingMasks vector_masks(stream, lie.vectors);
  prove_hiding_opening(transcript, hiding_oracles(plan, job.test.key, codeword->root()), witnesses,
                       hidden.ledger.lists(), hidden.claims, {row_masks, &vector_masks}, comm);
  return {transcript.payload(), {}, transcript.messages(), {}, {}, {}};
}

}  // namespace tessera::test
