#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "architecture/model_plan.hpp"
#include "base/progress.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

/// What inference reads of a model: its key without the root, and its parameters, which are referred to, not copied. A
/// rank needs the rows that the parameter table gives it.
struct IntegerModel {
  VerifyingKey key;
  const Parameters* parameters = nullptr;
  double logit_cap = 0;  // c of the real logits c*tanh(x/c), where they are asked for; 0: none

  [[nodiscard]] ScoreTables tables() const { return {key.exp_table, key.cap_table}; }
};

/// Keys and values of a state (B,A,S), by StateTensor: this rank's part; empty: none.
using PastState = std::vector<ChunkedTensor<std::int16_t>>;

/// Whether a run records a Trace.
enum class Record : std::uint8_t { nothing, trace };

/// The integer transformer of one token sequence, sharded: a rank computes its heads, features and vocabulary rows, and
/// activations are gathered between layers. Tokens come in batches of any size; the integers do not depend on how the
/// sequence is cut into batches, on the plan's lengths or on the number of ranks. append() and select() are collective.
class IntegerTransformer {
 public:
  /// Room for plan.rows; model and plan must outlive this. `past`: the state that a continuation starts from,
  /// by StateTensor, this rank's part.
  IntegerTransformer(const IntegerModel& model, const ModelPlan& plan, Record record, Communicator& comm,
                     std::function<void(std::size_t done)> progress = {}, const PastState& past = {});

  /// Runs the next tokens. Throws RangeError on all ranks if a value leaves its range, or more recorded ones than the
  /// key has exceptions, std::invalid_argument for an id
  /// that is not in the vocabulary or tokens beyond the capacity.
  void append(std::span<const std::uint32_t> ids);
  [[nodiscard]] std::size_t length() const { return length_; }
  /// Forgets the tokens from `length` on, and that a value of theirs has left its range. What is recorded of them stays
  /// until others come in their place.
  void forget(std::size_t length);
  /// Forgets all tokens (Record::nothing only).
  void reset() { forget(0); }

  /// Logits L_v, scale 2^-(residual + uf), of tokens [first, last): (own vocabulary rows, tokens) row-major.
  [[nodiscard]] RawVector<std::int64_t> logits(Range tokens);
  [[nodiscard]] Range vocabulary_rows() { return context().owned(plan_.shapes.logits.dimensions()[0]); }
  /// For each of these tokens the lowest id whose logit is maximal, equal on all ranks. The trace takes the logits as
  /// columns `generation`, `generation` + 1, ... if it is recorded.
  std::vector<std::uint32_t> select(Range positions, std::size_t generation);

  /// Everything recorded; the transformer is used up.
  Trace take_trace() {
    if (exceptions_) {
      trace_.exceptions = exceptions_->gather(comm_);
    }
    trace_.deal_chunks(plan_, comm_);
    if (record_ == Record::trace) {
      record_tiles(plan_.attention, model_.tables(), trace_, comm_);
    }
    return std::move(trace_);
  }

 private:
  [[nodiscard]] InferenceContext context() {
    return {*model_.parameters, comm_,      guard_,     record_ == Record::trace ? &trace_ : nullptr,
            plan_.rows,         plan_.past, &gathered_, exceptions_.get()};
  }
  void run_batch(std::span<const std::uint32_t> ids);

  const IntegerModel& model_;
  const ModelPlan& plan_;
  Record record_;
  Communicator& comm_;
  std::function<void(std::size_t)> progress_;
  RangeGuard guard_;
  std::unique_ptr<ExceptionRecorder> exceptions_;  // under a key with exceptions
  QkvCache cache_;
  std::vector<std::int32_t> final_;  // u of the final norm (n_embd, capacity)
  std::size_t length_ = 0;
  Trace trace_;
  SharedBytes gathered_;
};

/// What is known of a generation before it, and who is told of it.
struct Generation {
  std::vector<std::uint32_t> known = {};  // the first ids, chosen by an earlier run
  std::function<void(std::span<const std::uint32_t>)> chosen =
      {};  // told all ids so far after each pass, on every rank
  /// Guesses, at most `limit`, of what follows all tokens so far, the same on every rank; Draft's if empty.
  std::function<std::vector<std::uint32_t>(std::span<const std::uint32_t> all, std::size_t limit)> guess = {};
};

/// A token that was said to be known is not what the model chooses.
struct OtherToken : std::invalid_argument {
  OtherToken(std::size_t number, std::uint32_t known_id, std::uint32_t chosen_id);
  std::size_t place;            // among the generated ones
  std::uint32_t known, chosen;  // ids
};

/// Generates plan.generated tokens greedily after the prompt's rows (a continuation's begin with the last token of the
/// past), several in a pass where guesses are right (Draft), and runs filler tokens up to a whole chunk of rows. Known
/// tokens run in one pass with the prompt. Throws OtherToken (the first one), std::invalid_argument (ids outside the
/// vocabulary) and RangeError, on all ranks.
Trace run_inference(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                    Communicator& comm, const Progress& progress = {}, const PastState& past = {},
                    const Generation& generation = {});

/// What run_inference() generates, and nothing else: no trace. `ends`: whether a token is the last one, however many
/// plan.generated allows; `generation.known` is not used. Throws std::invalid_argument (ids outside the vocabulary) and
/// RangeError, on all ranks. Collective.
std::vector<std::uint32_t> generate(const IntegerModel& model, const ModelPlan& plan,
                                    std::span<const std::uint32_t> prompt, Communicator& comm,
                                    const PastState& past = {}, const Generation& generation = {},
                                    const std::function<bool(std::uint32_t)>& ends = {});

/// Makes the trace of run_inference() in one pass over prompt, given generated tokens and filler. Does not check that
/// `generated` is what the model would generate.
Trace run_one_pass(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                   std::span<const std::uint32_t> generated, Communicator& comm, const Progress& progress = {},
                   const PastState& past = {});

}  // namespace tessera
