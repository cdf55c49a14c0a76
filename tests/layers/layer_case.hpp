#pragma once

#include <functional>

#include "architecture/inference.hpp"
#include "integer_model/integer_model.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

#include "../model/random_model.hpp"
#include "../tensor/random_values.hpp"
#include "true_lookup.hpp"

namespace tessera::test {

/// A claim that a layer hands on: <weight, tensor> = value.
struct Handed {
  IntegerTensor tensor;
  const Shape* shape = nullptr;
  WeightedClaim claim;
};

/// Whether all claims on parameters, on the witness and on the states that the pass has are true. Collective.
inline bool claims_hold(const Plan& plan, const Witness& witness, const ClaimLedger& ledger, Communicator& comm) {
  const auto hold = [&](OracleId oracle, const std::vector<IntegerTensor>& tensors, const std::vector<Shape>& shapes) {
    return std::ranges::all_of(ledger[oracle], [&](const Claim& claim) {
      return weighted_sum(tensors[claim.tensor], shapes[claim.tensor], claim.weight, comm) == claim.value;
    });
  };
  const auto views = [](const std::vector<ChunkedTensor<std::int16_t>>& tensors) {
    std::vector<IntegerTensor> result;
    for (const auto& tensor : tensors) {
      result.emplace_back(&tensor);
    }
    return result;
  };
  const std::vector<Shape>& states = plan.state_layout.tensors();
  return hold(parameter_oracle, witness.parameters, plan.parameter_layout.tensors()) &&
         hold(witness_oracle, witness.tensors, plan.witness_shapes) &&
         (plan.past == 0 || hold(past_oracle, views(witness.past), states)) &&
         (!plan.pass.keeps || hold(kept_oracle, views(witness.kept), states));
}

/// A small random model with the true witness of one statement, and what a true look-up says at a random point: all
/// that a layer needs to be proven alone. Built collectively.
class LayerCase {
 public:
  struct Size {
    ModelShape model;
    std::size_t prompt = 0;
    std::size_t generated = 0;
  };

  LayerCase(const Size& size, Communicator& communicator)
      : comm(communicator),
        generator_(7),
        model_(generator_.make(size.model)),
        integers_(integer_model(model_)),
        plan(ModelPlan::of(integers_.key, pass_of(size), pass_of(size).division(comm.size()))),
        trace_(run_inference(integers_, plan, generator_.tokens(size.prompt, size.model.n_vocab), comm)),
        statement(statement_of(trace_)),
        parameters_(ParameterTensors::of(size.model, model_.parameters, comm.rank(), plan.division)),
        witness_(make_witness(plan, statement, trace_, parameters_, comm)),
        witness(*witness_),
        lookup(plan, true_lookup(plan, witness, comm)) {}
  LayerCase(const LayerCase&) = delete;
  LayerCase& operator=(const LayerCase&) = delete;

  /// Whether <weight, tensor> is the claim's value. Collective.
  [[nodiscard]] bool holds(const Handed& handed) const {
    return weighted_sum(handed.tensor, *handed.shape, handed.claim.weight, comm) == handed.claim.value;
  }
  [[nodiscard]] bool holds(const ClaimLedger& ledger) const { return claims_hold(plan, witness, ledger, comm); }

  /// A true claim with random weights.
  [[nodiscard]] WeightedClaim random_claim(const IntegerTensor& tensor, const Shape& shape, std::uint64_t seed) const {
    RandomElements random(seed);
    std::vector<Factor> weight = weight_at(random.point(shape));
    weight.front() = Factor::of(weight.front().table());
    const E value = weighted_sum(tensor, shape, weight, comm);
    return {std::move(weight), value};
  }
  /// The claim on q, k or v that a claim at a head point is.
  [[nodiscard]] WeightedClaim unpadded(const PointClaim& claim, const Shape& shape) const {
    return {head_weight(plan.attention.heads, shape, claim.point, Factor::at(claim.point.back())), claim.value};
  }
  /// A true claim on q, k or v at a random head point; `heads`: the shape of such points.
  [[nodiscard]] PointClaim random_head_claim(const IntegerTensor& tensor, const Shape& shape, const Shape& heads,
                                             std::uint64_t seed) const {
    RandomElements random(seed);
    PointClaim claim{random.point(heads), {}};
    claim.value = weighted_sum(tensor, shape, unpadded(claim, shape).weight, comm);
    return claim;
  }

  Communicator& comm;

 private:
  static PassShape pass_of(const Size& size) { return {.prompt = size.prompt, .generated = size.generated}; }
  static Statement statement_of(const Trace& trace) {
    const auto begin = trace.tokens.begin();
    const auto prompt = static_cast<std::ptrdiff_t>(trace.prompt_length);
    const auto end = prompt + static_cast<std::ptrdiff_t>(trace.generated);
    return {{begin, begin + prompt}, {begin + prompt, begin + end}};
  }

  RandomModel generator_;
  Model model_;
  IntegerModel integers_;

 public:
  ModelPlan plan;

 private:
  Trace trace_;

 public:
  Statement statement;

 private:
  ParameterTensors parameters_;
  std::unique_ptr<Witness> witness_;

 public:
  const Witness& witness;
  LookupValues lookup;
};

/// A layer that can be proven alone: true input claims are made from the case.
struct Layer {
  const char* name;
  std::function<void(ProverContext&, const LayerCase&)> prove;
  std::function<std::vector<Handed>(VerifierContext<E>&, const LayerCase&)> verify;
};

/// All layers of the protocol.
std::vector<Layer> all_layers();

}  // namespace tessera::test
