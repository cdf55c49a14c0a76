#pragma once

#include "commitment/oracle.hpp"
#include "plan/declarations.hpp"
#include "plan/key.hpp"

namespace tessera {

/// Everything that verifier and prover derive from (key, prompt length, generated tokens) before the proof: committed
/// tensors, look-ups, layouts. Nothing here is read from a proof. The lists are what the layers declare, in order; an
/// architecture's plan adds its layers' own parts (architecture/gpt2).
struct Plan {
  std::size_t prompt_length = 0;
  std::size_t generated = 0;      // G
  std::size_t tokens = 0;         // s
  std::size_t padded_tokens = 0;  // s_hat
  std::uint32_t filler = 0;       // token that pads the sequence

  std::vector<Declaration> declarations;  // for people
  std::vector<DeclaredTensor> recorded;   // what inference records
  std::vector<DeclaredTensor> derived;    // what witness steps compute

  std::vector<Shape> witness_shapes;       // of committed tensors, by TensorId
  std::vector<std::string> witness_names;  // by TensorId
  std::vector<Source> witness_sources;     // by TensorId
  std::vector<RangeCheck> ranges;
  std::vector<CheckedTensor> checked_tensors;
  std::vector<PairLookup> pairs;
  std::vector<TensorId> multiplicities;  // by table
  LookupStructure lookup;

  OracleLayout parameter_layout, witness_layout;
  OracleParameters witness_oracle;

 protected:
  /// Sequence lengths and the key's filler. Throws InputError for lengths that the model cannot have (nothing in the
  /// prompt, nothing generated, more than n_positions tokens).
  Plan(const VerifyingKey& key, std::size_t prompt_length, std::size_t generated);
  /// Packs the oracles once all is declared; throws InputError if the witness is too large for the field.
  void pack(std::vector<Shape> parameters);
};

/// Throws InputError for ids >= V. Lengths are checked where a plan is made.
void check_statement(const VerifyingKey& key, const Statement& statement);

/// Rows and rate of the witness oracle for its size.
OracleParameters witness_oracle_parameters(unsigned log_size);
/// Rows and rate of the parameter oracle for its size.
OracleParameters parameter_oracle_parameters(unsigned log_size);

}  // namespace tessera
