#include "base/errors.hpp"
#include "words/salted_leaves.hpp"
#include "opening/vector_masks.hpp"
#include "plan/hiding.hpp"
#include "plan/hiding_witness.hpp"
#include "protocol/renewal.hpp"
#include "protocol/renewal_claims.hpp"

namespace tessera {

Proof prove_renewal(const VerifyingKey& old_key, const VerifyingKey& new_key, const std::array<RenewalSide, 2>& sides,
                    const Digest& seed, const std::function<void()>& reserve, Communicator& comm) {
  const RenewalPlan plan = RenewalPlan::of(old_key, new_key, Division::finest(comm.size()));
  if (renewal_soundness(plan).round_by_round_bits() < required_soundness_bits) {
    throw InputError(
        "renewal: expected commitments for fewer proofs, found ones so large that soundness is below 100 bits");
  }
  if (reserve) {
    reserve();
  }
  ProverTranscript transcript(renewal_seed(old_key, new_key));
  const std::vector<Shape>& shapes = plan.masks.tensors();
  const MaskColumns masks(shapes[RenewalPlan::row_masks], shapes[RenewalPlan::random_tail], plan.row_variables,
                          plan.mask_oracle, seed, comm);
  const KeyedStream stream(seed, "vector masks");
  const VectorMasks vector_masks(stream);
  std::unique_ptr<CodewordStore> codeword;
  {
    const auto scope = transcript.scope("commitment");
    codeword =
        commit_oracle(plan.masks, plan.mask_oracle, masks.tensors(), comm, default_codeword_budget,
                      std::make_shared<SaltedLeaves>(std::make_shared<KeyedStream>(seed, "salt"), salt_elements));
  }
  transcript.send("masks", codeword->root());
  const std::vector<LinearForm> forms = renewal_forms(plan, [&] { return transcript.challenge("point"); });
  const std::vector<OracleWitness> witnesses{sides[0], sides[1], {masks.tensors(), codeword.get()}};
  prove_equality_opening(transcript, plan.oracles(codeword->root()), witnesses, forms, RenewalPlan::row_masks,
                         {masks.row_masks(), &vector_masks}, comm);
  return {transcript.payload(), {}, transcript.messages(), {}, {}, {}};
}

}  // namespace tessera
