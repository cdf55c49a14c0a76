#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api/proving.hpp"
#include "archive/codeword_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"
#include "archive/state_file.hpp"
#include "cluster/job_plan.hpp"
#include "cluster/recording_communicator.hpp"
#include "opening/opening.hpp"
#include "integer_model/comparison.hpp"
#include "integer_model/model.hpp"
#include "plan/witness.hpp"

#include "cli/command.hpp"

/// \file
/// What the subcommands ask of the libraries: each function is one stage of the way from a checkpoint to an accepted
/// proof.

namespace tessera::cli {

/// A whole text file; throws InputError.
std::string read_text_file(const std::string& path);
/// A whole text file without the byte order mark that editors put in front. Throws InputError if it cannot be read or
/// is UTF-16.
std::string read_edited_text_file(const std::string& path);

struct Evaluation {
  std::size_t windows = 0;  // of n_positions tokens, token 0 of each not scored
  Comparison comparison;    // with the float model if the model file holds the original weights
};

/// Collective; `original` on rank 0 alone.
Evaluation evaluate_model(const Model& model, const FloatModel* original, const std::string& text, Communicator& comm,
                          Progress& progress);

/// What `commit --hiding` was told.
struct HidingCommitment {
  std::uint64_t proofs = 0;
  Digest secret{};
};

/// Where a commitment goes.
struct CommitmentFiles {
  std::filesystem::path directory;
  CodewordKind kind;
};

/// Writes the codeword files and returns the key (on every rank). `parameters`: parameters_digest of
/// the model's file; `exceptions`: the key's limit. Collective.
VerifyingKey commit_model(const Model& model, const Digest& parameters, const CommitmentFiles& files,
                          const std::optional<HidingCommitment>& hiding, std::uint32_t exceptions, Communicator& comm,
                          Progress& progress);

/// A proof, and what a later part starts from, if it keeps that.
struct ProvenPart {
  ProofArchive archive;
  Past kept;
  std::string rejected;  // on the rank that checks: why the proof is no good; empty: it is accepted
};

/// This rank's trace below --scratch.
std::filesystem::path trace_path(const std::string& scratch, const Communicator& comm);

/// Generates, proves and, on the one rank that `checks`, checks the proof; fills in everything of the archive but text,
/// configuration, ranks and threads. Throws as prove_statement() does, but WrongValue for ids that an earlier run has
/// left and that the model does not choose. Collective.
ProvenPart prove_model(ProverModel& model, const CommittedModel& committed, const JobPlan& job, const Past& past,
                       bool checks, RecordingCommunicator& comm, Context& context);

}  // namespace tessera::cli
