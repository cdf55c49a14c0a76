#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>

#include "integer_model/model.hpp"
#include "protocol/protocol.hpp"
#include "plan/witness.hpp"

#include "../architecture/gpt2_layers.hpp"
#include "../architecture/naive_inference.hpp"

namespace tessera::test {

/// The same lies are told under plain keys and, where the environment has TESSERA_HIDING_LIES, under hiding ones.
inline const std::uint64_t hiding_proofs = std::getenv("TESSERA_HIDING_LIES") != nullptr ? 1 : 0;

/// A committed model, made once per process.
struct TestModel {
  Model model;
  IntegerModel integers;
  VerifyingKey key;
  ParameterTensors parameters;
  SelfCommunicator comm;
  std::optional<ChunkedTensor<std::int64_t>> random_tail;  // of a hiding key's parameters
  std::unique_ptr<CodewordStore> codeword;

  /// `exceptions`: the key's limit; nothing: that of such keys.
  explicit TestModel(Model imported, std::uint64_t proofs = hiding_proofs,
                     std::optional<std::uint32_t> exceptions = {});
};

TestModel& odd_model();        // two blocks, three heads of 12 features: padded heads
TestModel& gutenberg_model();  // four blocks, six heads of 32

/// A prompt and its true continuation.
Statement true_statement(TestModel& test, std::vector<std::uint32_t> prompt, std::size_t generate);
inline const std::vector<std::uint32_t> odd_prompt{17, 42, 5, 99, 120, 7, 64, 31};
/// The statement that nearly all tests lie about: this prompt, 16 tokens with the filler.
const Statement& odd_statement();
/// Its plan. The handles of tensors are the same in every plan of the architecture.
const ModelPlan& odd_plan();
/// The true trace of odd_statement() but for what the liar says.
Trace odd_trace(const Liar& liar = {});
/// Places of odd_statement() that lies use.
inline constexpr std::size_t odd_tokens = 16;  // padded
inline constexpr std::size_t odd_used = 13;    // prompt and generated; rows from 12 on choose no token
inline constexpr std::size_t last_token = odd_tokens - 1;
/// The block that lies are about, in other models too, and the head.
inline constexpr std::size_t lied_block = 1, lied_head = 2;

/// As the liar says at one stage of one block only.
Liar lie_at(Stage stage, std::size_t block, std::function<void(Trace&)> lie);

/// Where a proof fails if a value is no row of its table. (Under a hiding key what is hidden is checked by the
/// opening.)
inline const std::string lookup_scope = "/lookup/layer";
inline const std::string opening_scope = "/opening";

/// A prover's working set. Everything may be changed before prove(); what is not changed stays as the trace has it.
class Forgery {
 public:
  Forgery(TestModel& test, Statement statement, ModelPlan plan, Trace trace);
  Forgery(TestModel& test, Statement statement, ModelPlan plan, Trace trace, const ParameterTensors& parameters);

  /// Other values of a range-checked tensor: committed pieces and look-up columns.
  void set_range(RangeId range, const ChunkedTensor<std::int64_t>& values);
  /// Other values of a committed tensor.
  void set_tensor(TensorId tensor, const ChunkedTensor<std::int64_t>& values) { witness->tensors[tensor] = &values; }
  /// A copy of a witness tensor to change; lives as long as this.
  ChunkedTensor<std::int64_t>& copy(IntegerTensor tensor);
  ChunkedTensor<std::int64_t>& zeros(const Shape& shape);
  /// Changes the input of a pair look-up at one place of one chunk.
  void set_input(const PairLookup& pair, std::size_t chunk, std::size_t place, std::uint32_t value);
  /// Multiplicities that fit the columns as they are now.
  void recount();
  /// Other multiplicities, committed as well.
  void set_multiplicities(std::size_t table, std::vector<std::int64_t> counts);

  Proof prove();

  TestModel& test;
  Statement statement;
  ModelPlan plan;
  Trace trace;
  std::unique_ptr<Witness> witness;
  CodewordStore* codeword;
  Transcript::Listener listener;  // of a plain key's prover: a liar may say something else in one scope

 private:
  std::deque<ChunkedTensor<std::int64_t>> owned_;
};

/// Of odd_statement(): true but for what is changed in the trace or afterwards.
Forgery odd_forgery(Trace trace = odd_trace());

/// Proves and verifies, by the statement's plan or by the one given.
Verdict verdict_of(Forgery& forgery);
Verdict verdict_of(Forgery& forgery, const ModelPlan& plan);

/// Proves as the liar says, with the plan (default: the exact one).
Proof prove_lie(TestModel& test, const Statement& statement, const Liar& liar, const ModelPlan* plan = nullptr);

/// The true proof of odd_statement(), made once per process.
const Proof& odd_proof();

/// The plan with the top piece of a range looked up in a table that is `bits` bits wider; a signed one also takes
/// values down to -2^(width + bits - 1). Not a plan that any key gives: prover and verifier of a test share it.
void widen(ModelPlan& plan, RangeId range, unsigned bits = 1, bool negative = false);

/// Sanitizers see how each kind of lie is handled: of many that are alike they get every n-th, the release build all.
constexpr std::size_t each_or_every([[maybe_unused]] std::size_t n) {
#ifdef __SANITIZE_ADDRESS__
  return n;
#else
  return 1;
#endif
}

/// Verifies many payloads of one statement: plan, seed and soundness are made once. The statement must be one that
/// verify_inference() takes.
class PayloadVerifier {
 public:
  PayloadVerifier(const TestModel& test, Statement statement);
  [[nodiscard]] Verdict operator()(std::span<const std::uint8_t> payload) const;

 private:
  const VerifyingKey& key_;
  Statement statement_;
  ModelPlan plan_;
  Digest seed_;
};

/// Expects a proof to be rejected in a scope that ends or begins with `scope`.
void expect_rejected(const Verdict& verdict, const std::string& scope);
/// Unless the opening found it.
void expect_reason(const Verdict& verdict, const std::string& reason);
void expect_accepted(const Verdict& verdict);

}  // namespace tessera::test
