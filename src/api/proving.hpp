#pragma once

#include <string>
#include <string_view>

#include "api/commitment.hpp"
#include "api/prover_model.hpp"
#include "architecture/inference.hpp"
#include "archive/state_file.hpp"
#include "arithmetic/range_guard.hpp"
#include "base/errors.hpp"
#include "base/progress.hpp"

/// \file
/// From a statement to a proof that its maker has checked: what the program and programs that embed the library do.

namespace tessera {

/// A value that cannot be; thrown on all ranks alike.
class WrongValue : public JobError {
 public:
  using JobError::JobError;
};

/// Throws WrongValue that names the value, unless the key is hiding.
[[noreturn]] void throw_out_of_range(const VerifyingKey& key, const RangeError& error);

struct ProvingJob;

/// Who follows a proving job: measures it, shows how far it is, keeps what its phases come to. Every rank has one, and
/// calls its functions alike. Each of them does nothing unless it is overridden.
class JobFollower {
 public:
  JobFollower() = default;
  virtual ~JobFollower() = default;
  JobFollower(const JobFollower&) = delete;
  JobFollower& operator=(const JobFollower&) = delete;

  /// A step begins, as people are told: "inference", "proving", "checking the proof".
  virtual void step(std::string_view /*name*/) {}
  /// A scope begins or ends: the transcript's, and around them /inference and /check.
  virtual void begins(std::string_view /*scope*/) {}
  virtual void ends(std::string_view /*scope*/) {}

  /// What is going to be done; the statement's generated ids are not known yet. The model is read.
  virtual void planned(const ProvingJob& /*job*/, const ModelPlan& /*plan*/) {}
  /// What an earlier run of the job has left.
  virtual ProofCheckpoint known() { return {}; }
  /// The trace that it has left.
  virtual std::optional<Trace> stored_trace(const ModelPlan& /*plan*/, const Statement& /*statement*/) { return {}; }
  /// What is known of the tokens, and who is told of them.
  virtual Generation generation() { return {}; }
  virtual Progress inferring() { return {}; }
  /// The trace of this run.
  virtual void inferred(const ModelPlan& /*plan*/, const Statement& /*statement*/, const Trace& /*trace*/) {}
  /// Told what there is after each phase; nobody: it is not made.
  virtual PhaseListener phases() { return {}; }
  /// The payload, before it is checked.
  virtual void made(std::span<const std::uint8_t> /*payload*/) {}
};

/// What is proven, and with what.
struct ProvingJob {
  ProverModel& model;
  const CommittedModel& committed;
  Statement statement;  // as many ids generated as are to be, of any value
  const Past& past;     // the state that it starts from
  bool checks = false;  // this rank checks the proof: one of them does
  std::size_t codeword_budget = default_codeword_budget;
};

/// A statement that has been proven.
struct ProvenStatement {
  Statement statement;
  Proof proof;
  SoundnessReport soundness;
  std::string rejected;  // on the rank that checks: why the proof is no good; empty: it is accepted
};

/// Generates, proves, and on the one rank that checks verifies the proof, so that nothing false leaves: a damaged or
/// foreign commitment, stored trace or machine shows there. Throws InputError for a statement that the model cannot
/// have, WrongValue for a value that is outside its range, which is not named under a hiding key, or no row of its
/// table, and OtherToken for ids of follower.generation() that the model does not choose; on all ranks. Collective.
ProvenStatement prove_statement(ProvingJob job, JobFollower& follower, Communicator& comm);

}  // namespace tessera
