#pragma once

#include <filesystem>
#include <optional>
#include "archive/proof_file.hpp"
#include "cluster/job_plan.hpp"
#include "commitment/opening.hpp"
#include "model/model.hpp"

#include "cli/progress.hpp"

/// \file
/// What the subcommands ask of the libraries: each function is one stage of the way from a checkpoint to an accepted
/// proof.

namespace tessera::cli {

struct Imported {
  Model model;
  FloatParameters original;
};

/// Loads a checkpoint and quantizes it: with these exponents, else calibrated on `text`, else on text that the model
/// samples itself.
Imported import_model(const std::filesystem::path& checkpoint, const std::optional<std::string>& text,
                      const std::optional<Exponents>& exponents, Progress& progress);

/// A model of the shape in this config.json with seeded random parameters.
Imported synthesize_model(const std::filesystem::path& config, std::uint64_t seed, Progress& progress);

struct Evaluation {
  std::size_t tokens = 0;   // scored
  std::size_t windows = 0;  // of n_positions tokens, token 0 of each not scored
  double integer_perplexity = 0;
  std::optional<double> float_perplexity;  // if the model file holds the original weights
};

Evaluation evaluate_model(const Model& model, const FloatModel* original, const std::string& text, Communicator& comm,
                          Progress& progress);

/// Writes the codeword files into `directory` and returns the key (on every rank). `parameters`: parameters_digest of
/// the model's file. Collective.
VerifyingKey commit_model(const Model& model, const Digest& parameters, const std::filesystem::path& directory,
                          Communicator& comm, Progress& progress);

std::vector<std::uint32_t> encode_text(const Model& model, const std::string& text);

/// Generates, proves and checks the proof (JobError if it is rejected); fills in everything of the archive but text,
/// configuration, ranks and threads. The model's parameters are used up. Collective.
ProofArchive prove_model(Model&& model, const VerifyingKey& key, CodewordStore& parameters, const JobPlan& plan,
                         Communicator& comm, Progress& progress);

/// Throws Rejected. Everything that tessera-verify needs beside files.
void verify_proof(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload);

}  // namespace tessera::cli
