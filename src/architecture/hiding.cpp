#include "architecture/model_plan.hpp"
#include "base/errors.hpp"
#include "opening/schedule.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

/// What is sent and multiplied before the opening, but for the proof of the products themselves.
PadLayout discover_pads(const ModelPlan& plan) {
  AccountingTranscript account;
  VerifierView<Affine> transcript(account);
  // all lists: which are empty changes nothing under a hiding key
  const Exceptions exceptions(plan, ExceptionLists(plan.clamped.size()), E::zero(),
                              std::vector<bool>(plan.clamped.size(), true));
  const LookupValuesOf<Affine> lookup(plan, verify_lookup(transcript, plan.lookup));
  ClaimLedgerOf<Affine> ledger(plan.pass);
  const Statement statement = statement_of(plan.pass);
  VerifierContext<Affine> context{plan, statement, transcript, lookup, ledger, exceptions};
  walk(context, plan);
  return transcript.layout();
}

}  // namespace

void ModelPlan::hide(const VerifyingKey& key) {
  if (past > 0 || pass.keeps) {
    throw InputError("statement: expected one that neither continues nor keeps a state, because the key is hiding");
  }
  parameter_layout = tessera::parameter_layout(key, division);
  HidingPlan plan;
  plan.pads = discover_pads(*this);
  plan.log_products = ceil_log2(plan.pads.pairs.size() + 1);
  plan.pads.pads += 2 * std::size_t{plan.log_products} + 1;  // rounds of the products' sum-check, a product at its end
  plan.first_tensor = witness_shapes.size();
  const Dimension coordinate = Dimension::whole(2);
  const Shape products({Dimension::whole(std::size_t{1} << plan.log_products), coordinate});
  const unsigned log_rows = witness_oracle.log_rows;
  plan.row_variables = std::max(log_rows, key.parameter_oracle.log_rows);
  plan.shapes = {Shape({Dimension::whole(plan.pads.pads), coordinate}),
                 products,
                 products,
                 products,
                 columns_shape(2 * plan.row_masks(), log_rows),
                 columns_shape(parameter_tail_columns(1), log_rows)};
  std::vector<Shape> all = witness_shapes;
  all.insert(all.end(), plan.shapes.begin(), plan.shapes.end());
  pack_hiding_witness(std::move(all), log_rows).move_to(witness_layout, witness_oracle);
  check_limit("log_domain", witness_layout.log_domain(witness_oracle), "length: witness log_domain");
  hiding = std::move(plan);
}

}  // namespace tessera
