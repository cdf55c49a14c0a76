#pragma once

#include "plan/context.hpp"
#include "tensor/contract.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {

struct Witness;

/// The prover's side while it walks through the layers; every rank runs the same walk.
struct ProverContext {
  const Plan& plan;
  const Statement& statement;
  ProverTranscript& transcript;
  const LookupValues& lookup;
  ClaimLedger& ledger;
  const Witness& witness;
  Communicator& comm;

  /// Computes <w, T>, sends it and records the claim. Collective.
  E parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight);
  E committed(std::string_view label, TensorId tensor, std::vector<Factor> weight);
  /// The same for a value that is known already.
  void parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight, E value);
  void committed(std::string_view label, TensorId tensor, std::vector<Factor> weight, E value);
};

/// Factor of a chunked sum-check that is an integer tensor itself (absent chunks are zero).
ChunkedFactor tensor_factor(const IntegerTensor& tensor);
/// scale * prod_j weight_j, one weight a dimension.
struct ScaledWeight {
  std::vector<Factor> weight;
  E scale;
};
/// Factor that is a sum of such weights: known everywhere, so its outer table needs no communication.
ChunkedFactor weight_factor(const Shape& shape, const std::vector<ScaledWeight>& terms);
/// Factor that depends on some dimensions only: `table` is dense over the dimensions with `kept` set (padded), constant
/// along the others.
ChunkedFactor broadcast_factor(const Shape& shape, const std::vector<E>& table, const std::vector<bool>& kept);

}  // namespace tessera
