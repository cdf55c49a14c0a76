#pragma once

#include "plan/context.hpp"
#include "tensor/contract.hpp"
#include "sumcheck/chunked.hpp"

namespace tessera {

class Witness;

/// The prover's side while it walks through the layers; every rank runs the same walk.
struct ProverContext {
  using Scalar = E;
  const Plan& plan;
  const Statement& statement;
  ProverTranscript& transcript;
  const LookupValues& lookup;
  ClaimLedger& ledger;
  const Witness& witness;
  Communicator& comm;
  const Exceptions& exceptions = Exceptions::none();
  const Candidates& candidates = Candidates::none();

  /// Computes <w, T>, sends it and records the claim. Collective.
  E parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight);
  E committed(std::string_view label, TensorId tensor, std::vector<Factor> weight);
  E state(std::string_view label, OracleId oracle, StateTensor tensor, std::vector<Factor> weight);
  /// Computes <w, T> for a tensor that is in no oracle and sends it: no claim. Collective.
  E derived(std::string_view label, Derived tensor, const Shape& shape, const std::vector<Factor>& weight);
  /// Sends a value <w, T> that is known already and records the claim.
  void parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight, E value);
  void committed(std::string_view label, TensorId tensor, std::vector<Factor> weight, E value);
};

}  // namespace tessera
