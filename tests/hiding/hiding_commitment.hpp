#pragma once

#include <functional>
#include <memory>

#include "words/salted_leaves.hpp"
#include "integer_model/integer_model.hpp"
#include "plan/hiding.hpp"
#include "plan/hiding_witness.hpp"
#include "plan/witness.hpp"
#include "seed.hpp"

namespace tessera::test {

/// A commitment to a model's parameters that is good for so many proofs.
struct HidingCommitment {
  VerifyingKey key;
  ParameterTensors parameters;
  ChunkedTensor<std::int64_t> tail;
  std::vector<IntegerTensor> tensors;
  std::unique_ptr<CodewordStore> codeword;

  /// `change`: what a liar commits to instead, by tensor; the last is the random columns.
  HidingCommitment(const Model& model, std::uint64_t proofs, std::string_view secret_name, Communicator& comm,
                   const std::function<void(std::vector<IntegerTensor>&)>& change = {})
      : HidingCommitment(model, proofs, secret_name, comm, Division::finest(comm.size()), change) {}
  /// For proofs whose plan has this division.
  HidingCommitment(const Model& model, std::uint64_t proofs, std::string_view secret_name, Communicator& comm,
                   const Division& division, const std::function<void(std::vector<IntegerTensor>&)>& change = {})
      : key(make_verifying_key(model)),
        parameters(ParameterTensors::of(model.shape, model.parameters, comm.rank(), division)) {
    key.exceptions = 0;
    key.hiding_proofs = proofs;
    key.parameter_oracle.absent_rows = 0;
    const OracleLayout layout = parameter_layout(key, division);
    const HidingSecret secret(seed_of(secret_name));
    tail = random_columns(layout.tensors().back(), secret.columns, comm);
    tensors = parameters.views();
    tensors.emplace_back(&tail);
    if (change) {
      change(tensors);
    }
    codeword = commit_oracle(layout, key.parameter_oracle, tensors, comm, default_codeword_budget,
                             std::make_shared<SaltedLeaves>(secret.salt, salt_elements));
    key.parameter_root = codeword->root();
  }
};

}  // namespace tessera::test
