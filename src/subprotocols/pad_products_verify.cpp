#include "subprotocols/pad_products.hpp"

namespace tessera {

std::vector<Factor> cell_weight(const Point& point) {
  return {Factor::at(point), Factor::of({E::one(), E{F::zero(), F::one()}})};
}

void verify_pad_products(VerifierContext<Affine>& context) {
  VerifierView<Affine>& transcript = context.transcript;
  const auto scope = transcript.scope("pads");
  const HidingPlan& hiding = *context.plan.hiding;
  Point tau;
  for (unsigned i = 0; i < hiding.log_products; ++i) {
    tau.push_back(transcript.challenge("tau", 1, "products of pads"));
  }
  const auto sumcheck = verify_eq_sumcheck(transcript, Affine{}, tau, PadProductRelation::degree());
  const std::vector<E> factors = transcript.receive_public("factors", 2);
  const Affine product = transcript.receive("product");
  transcript.check_equal(product + sumcheck.value, factors[0] * factors[1], "a product of pads is wrong");
  const std::vector<Factor> weight = cell_weight(sumcheck.point);
  context.ledger.add(witness_oracle, hiding.tensor(HidingPlan::left), weight, factors[0]);
  context.ledger.add(witness_oracle, hiding.tensor(HidingPlan::right), weight, factors[1]);
  context.ledger.add(witness_oracle, hiding.tensor(HidingPlan::product), weight, product);
  const auto cell = [](HiddenCell::Kind kind, std::uint32_t index) { return Affine(E{}, {{{kind, index}, E::one()}}); };
  for (std::uint32_t k = 0; k < hiding.pads.pairs.size(); ++k) {
    const auto [first, second] = hiding.pads.pairs[k];
    transcript.check_equal(cell(HiddenCell::Kind::left, k), cell(HiddenCell::Kind::pad, first), "");
    transcript.check_equal(cell(HiddenCell::Kind::right, k), cell(HiddenCell::Kind::pad, second), "");
  }
}

}  // namespace tessera
