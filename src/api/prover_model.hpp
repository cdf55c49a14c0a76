#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "archive/model_file.hpp"
#include "cluster/communicator.hpp"
#include "integer_model/model.hpp"
#include "plan/witness.hpp"

namespace tessera {

/// A model that is proven with, and what its parameters are for the prover.
class ProverModel {
 public:
  /// `lasting`: for several proofs. Else the parameters are used up by tensors().
  ProverModel(std::filesystem::path path, const Communicator& comm, bool lasting)
      : path_(std::move(path)),
        rank_(comm.rank()),
        division_(Division::finest(comm.size())),
        model_(load_model(path_, rank_, division_)),
        lasting_(lasting) {}
  [[nodiscard]] const Model& model() const { return model_; }
  /// Makes sure that the rows of this rank are those that such proofs need: short ones cannot be divided as finely.
  void divide(const Division& division);
  /// The rows of this rank, made once.
  [[nodiscard]] const ParameterTensors& tensors();
  /// Gives the memory of tensors() back, which must not be read any more, unless there may be another proof.
  void release_tensors();

 private:
  std::filesystem::path path_;
  int rank_;
  Division division_;
  Model model_;
  bool lasting_;
  std::optional<ParameterTensors> tensors_;
};

}  // namespace tessera
