#include "fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "words/salted_leaves.hpp"
#include "integer_model/integer_model.hpp"
#include "plan/hiding_witness.hpp"
#include "protocol/hiding.hpp"

#include "../golden/golden_import.hpp"

namespace tessera::test {
namespace {

constexpr unsigned piece_bits = 16;

TestModel load(const std::string& name) { return TestModel(golden::import_bundled(name).model); }

/// Under a hiding key what is hidden is checked there.
bool found_by_hiding_opening(const Verdict& verdict) {
  return hiding_proofs > 0 && verdict.scope == opening_scope &&
         verdict.reason == "the opening's final claim does not hold";
}

}  // namespace

TestModel::TestModel(Model imported, std::uint64_t proofs, std::optional<std::uint32_t> exceptions)
    : model(std::move(imported)),
      integers(integer_model(model)),
      key(make_verifying_key(model)),
      parameters(ParameterTensors::of(model.shape, model.parameters)) {
  key.hiding_proofs = proofs;
  key.parameter_oracle.absent_rows = proofs > 0 ? 0 : key.parameter_oracle.absent_rows;
  key.exceptions = exceptions.value_or(proofs > 0 ? 0 : default_exceptions);
  integers.key.exceptions = key.exceptions;
  const OracleLayout layout = parameter_layout(key);
  std::vector<IntegerTensor> tensors = parameters.views();
  std::shared_ptr<const LeafExtras> extras;
  if (proofs > 0) {
    const HidingSecret secret(Digest{1});
    random_tail = random_columns(layout.tensors().back(), secret.columns, comm);
    tensors.emplace_back(&*random_tail);
    extras = std::make_shared<SaltedLeaves>(secret.salt, salt_elements);
  }
  codeword = commit_oracle(layout, key.parameter_oracle, tensors, comm, default_codeword_budget, std::move(extras));
  key.parameter_root = codeword->root();
}

TestModel& odd_model() {
  static TestModel test = load("odd-40k");
  return test;
}

TestModel& gutenberg_model() {
  static TestModel test = load("gutenberg-2m");
  return test;
}

Statement true_statement(TestModel& test, std::vector<std::uint32_t> prompt, std::size_t generate) {
  const Trace trace = infer(test.integers, prompt, generate, test.comm);
  const auto first = trace.tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size());
  return {std::move(prompt), {first, first + static_cast<std::ptrdiff_t>(generate)}};
}

const Statement& odd_statement() {
  static const Statement statement = true_statement(odd_model(), odd_prompt, 5);
  return statement;
}

const ModelPlan& odd_plan() {
  static const ModelPlan plan = ModelPlan::of(odd_model().key, odd_statement());
  return plan;
}

Trace odd_trace(const Liar& liar) { return naive_inference(odd_model().integers, odd_statement(), liar); }

Liar lie_at(Stage stage, std::size_t block, std::function<void(Trace&)> lie) {
  return [stage, block, lie = std::move(lie)](Stage now, std::size_t here, Trace& trace) {
    if (now == stage && here == block) {
      lie(trace);
    }
  };
}

Forgery::Forgery(TestModel& test_model, Statement what, ModelPlan with_plan, Trace with_trace)
    : Forgery(test_model, std::move(what), std::move(with_plan), std::move(with_trace), test_model.parameters) {}

Forgery::Forgery(TestModel& test_model, Statement what, ModelPlan with_plan, Trace with_trace,
                 const ParameterTensors& parameters)
    : test(test_model),
      statement(std::move(what)),
      plan(std::move(with_plan)),
      trace(std::move(with_trace)),
      witness(make_witness(plan, statement, trace, parameters, test.comm, OutOfRange::skip)),
      codeword(test.codeword.get()) {}

ChunkedTensor<std::int64_t>& Forgery::zeros(const Shape& shape) {
  return owned_.emplace_back(shape, Ownership{}, 0, 1);
}

ChunkedTensor<std::int64_t>& Forgery::copy(IntegerTensor tensor) {
  return std::visit(
      [&](const auto* from) -> ChunkedTensor<std::int64_t>& {
        ChunkedTensor<std::int64_t>& to = zeros(from->shape());
        std::ranges::copy(from->values(), to.values().begin());
        return to;
      },
      tensor);
}

void Forgery::set_range(RangeId id, const ChunkedTensor<std::int64_t>& values) {
  const RangeCheck& range = plan.ranges[id.range];
  for (std::size_t i = 0; i < range.pieces(); ++i) {
    const bool top = i + 1 == range.pieces();
    ChunkedTensor<std::int64_t>& piece = zeros(range.shape);
    for (std::size_t x = 0; x < piece.values().size(); ++x) {
      const std::int64_t shifted = (values.values()[x] + range.offset) >> (piece_bits * i);
      piece.values()[x] = top ? shifted : shifted & 0xFFFF;
    }
    if (i < range.committed.size()) {
      witness->tensors[range.committed[i]] = &piece;
    }
    witness->columns[range.columns[i]] = {
        Ownership{}, [&piece](std::size_t chunk, std::span<std::uint32_t> a, std::span<std::int32_t>) {
          std::ranges::transform(piece.chunk(chunk), a.begin(),
                                 [](std::int64_t value) { return static_cast<std::uint32_t>(value); });
        }};
  }
}

void Forgery::set_input(const PairLookup& pair, std::size_t chunk, std::size_t place, std::uint32_t value) {
  LookupColumnData& column = witness->columns[pair.column];
  column.in_place = {};
  column.read = [honest = column.read, chunk, place, value](std::size_t at, std::span<std::uint32_t> a,
                                                            std::span<std::int32_t> b) {
    honest(at, a, b);
    if (at == chunk) {
      a[place] = value;
    }
  };
}

void Forgery::recount() {
  const auto counts = count_multiplicities(plan.lookup, witness->columns, test.comm, OutOfRange::skip);
  for (std::size_t table = 0; table < counts.size(); ++table) {
    set_multiplicities(table, counts[table]);
  }
}

void Forgery::set_multiplicities(std::size_t table, std::vector<std::int64_t> counts) {
  ChunkedTensor<std::int64_t>& tensor = zeros(plan.witness_shapes[plan.multiplicities[table]]);
  std::ranges::copy(counts, tensor.values().begin());
  witness->multiplicities[table] = std::move(counts);
  witness->tensors[plan.multiplicities[table]] = &tensor;
}

Proof Forgery::prove() {
  if (plan.hiding) {
    return prove_hidden_witness(
        plan, test.key, statement, *witness, *codeword, test.comm,
        {.hiding = HidingOptions{[this] { return IntegerTensor(&*test.random_tail); }, Digest{2}}});
  }
  // What is opened are the parameters that are committed to: else the opening alone would find all others, and no claim
  // about them would be tested.
  const auto finished = [this](ProofPhase phase, const ProofCheckpoint& /*so_far*/) {
    if (phase == ProofPhase::layers) {
      witness->parameters = test.parameters.views();
    }
  };
  return prove_witness(plan, test.key, statement, *witness, *codeword, test.comm,
                       {.listener = listener, .finished = finished});
}

Forgery odd_forgery(Trace trace) { return {odd_model(), odd_statement(), odd_plan(), std::move(trace)}; }

Verdict verdict_of(Forgery& forgery) {
  return verify_inference(forgery.test.key, forgery.statement, forgery.prove().payload);
}
Verdict verdict_of(Forgery& forgery, const ModelPlan& plan) {
  return verify_inference(plan, forgery.test.key, forgery.statement, forgery.prove().payload);
}

Proof prove_lie(TestModel& test, const Statement& statement, const Liar& liar, const ModelPlan* plan) {
  Trace trace = naive_inference(test.integers, statement, liar);
  return Forgery(test, statement, plan != nullptr ? *plan : ModelPlan::of(test.key, statement), std::move(trace))
      .prove();
}

const Proof& odd_proof() {
  static const Proof proof = prove_lie(odd_model(), odd_statement(), {});
  return proof;
}

void widen(ModelPlan& plan, RangeId id, unsigned bits, bool negative) {
  RangeCheck& range = plan.ranges[id.range];
  if (negative) {
    const std::int64_t low = std::int64_t{1} << (range.width + bits - 1);
    range.offset = std::max(low, range.offset);
  }
  LookupColumn& column = plan.lookup.columns[range.columns.back()];
  const unsigned width = plan.lookup.tables[column.table].log_size + bits;
  const auto fits = [&](const LookupTable& table) { return table.values.empty() && table.log_size == width; };
  const auto found = std::ranges::find_if(plan.lookup.tables, fits);
  column.table = static_cast<std::size_t>(found - plan.lookup.tables.begin());
  if (found == plan.lookup.tables.end()) {
    plan.lookup.tables.push_back({"range" + std::to_string(width), width, {}});
    plan.multiplicities.push_back(plan.witness_shapes.size());
    plan.witness_shapes.push_back(Shape({Dimension::whole(std::size_t{1} << width)}));
    plan.witness_names.push_back("multiplicity/range" + std::to_string(width));
    plan.witness_sources.emplace_back();
    pack_witness(plan.witness_shapes).move_to(plan.witness_layout, plan.witness_oracle);
    if (plan.hiding) {
      VerifyingKey key;
      key.shape = plan.model;
      key.hiding_proofs = hiding_proofs;
      key.parameter_oracle = parameter_oracle_parameters(parameter_shapes(plan.model), true);
      plan.hide(key);
    }
  }
}

PayloadVerifier::PayloadVerifier(const TestModel& test, Statement statement)
    : key_(test.key),
      statement_(std::move(statement)),
      plan_(ModelPlan::of(key_, statement_)),
      seed_(statement_seed(key_, statement_)) {}

Verdict PayloadVerifier::operator()(std::span<const std::uint8_t> payload) const {
  return verify_payload(plan_, key_, statement_, seed_, payload);
}

void expect_rejected(const Verdict& verdict, const std::string& scope) {
  EXPECT_FALSE(verdict.accepted);
  if (!found_by_hiding_opening(verdict)) {
    EXPECT_EQ(verdict.scope, scope) << verdict.reason;
  }
}

void expect_reason(const Verdict& verdict, const std::string& reason) {
  if (!found_by_hiding_opening(verdict)) {
    EXPECT_EQ(verdict.reason, reason);
  }
}

void expect_accepted(const Verdict& verdict) {
  EXPECT_TRUE(verdict.accepted) << verdict.scope << ": " << verdict.reason;
}

}  // namespace tessera::test
