#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "words/oracle.hpp"
#include "plan/declarations.hpp"
#include "plan/hiding.hpp"
#include "plan/key.hpp"
#include "plan/passes.hpp"
#include "tensor/team.hpp"

namespace tessera {

/// What the sizes of a proof depend on beside the key, and how its tokens are drawn.
struct PassShape {
  std::size_t prompt = 0;     // new tokens of the statement's prompt
  std::size_t generated = 0;  // G
  std::size_t past = 0;       // positions in the state that it starts from; 0: a beginning
  bool keeps = false;
  std::size_t pass_length = 0;  // Statement::pass_length
  std::optional<Sampling> sampling = {};
  static PassShape of(const Statement& statement);
  /// How finely a job of so many ranks that proves this shape divides its tensors.
  [[nodiscard]] Division division(int ranks) const {
    return {ranks, std::min(Passes::of(*this).rows.chunk(), Division::enough_tokens)};
  }
  friend bool operator==(const PassShape&, const PassShape&) = default;
};

/// Tensors of the states.
enum StateTensor : std::size_t { state_keys, state_values };
/// Shapes of a state's tensors, by StateTensor.
using StateShapes = std::array<Shape, 2>;

/// Everything that verifier and prover derive from (key, shape of the pass) before the proof: committed
/// tensors, look-ups, layouts. Nothing here is read from a proof. The lists are what the layers declare, in order; a
/// model's plan adds its layers' own parts (architecture/model_plan.hpp).
struct Plan {
  PassShape pass;
  Division division;              // the verifier's: none
  std::size_t past = 0;           // position of the first row
  std::size_t prompt_length = 0;  // n0: rows before the first generated token; a continuation's first is the last token
  std::size_t generated = 0;      // G
  std::size_t tokens = 0;         // s: rows without filler; a continuation has none for its last token
  Passes passes;                  // how rows and keys are cut
  std::size_t rows = 0;           // with filler: whole chunks
  std::size_t kept_rows = 0;      // rows that go into the state that is kept: all but the last token's
  std::uint32_t filler = 0;       // token that pads the sequence

  std::vector<Declaration> declarations;  // for people
  std::vector<DeclaredTensor> recorded;   // what inference records
  std::vector<DeclaredTensor> derived;    // what witness steps compute
  std::uint32_t exception_limit = 0;      // the key's
  bool all_lists = false;                 // claims are made of empty lists, too: a hiding key's proofs have one shape
  std::vector<ClampedTensor> clamped;     // of a key with exceptions
  std::size_t shared_heads = 0;           // heads that a team may infer jointly; 0: a head is one rank's

  std::vector<Shape> witness_shapes;       // of committed tensors, by TensorId
  std::vector<std::string> witness_names;  // by TensorId
  std::vector<Source> witness_sources;     // by TensorId
  std::vector<RangeCheck> ranges;
  std::vector<CheckedTensor> checked_tensors;
  std::vector<PairLookup> pairs;
  std::vector<TensorId> multiplicities;  // by table
  LookupStructure lookup;

  ByParameter<std::size_t> parameter_index{};  // its tensor in the parameter oracle; none: SIZE_MAX
  OracleLayout parameter_layout, witness_layout;
  OracleParameters parameter_oracle, witness_oracle;
  OracleLayout state_layout;  // keys, then values, of all positions that the model has; zero from the state's end on
  OracleParameters state_oracle;
  std::optional<HidingPlan> hiding;  // under a hiding key

  /// Who infers the heads that a rank takes part in: of more ranks than heads, a team.
  [[nodiscard]] Team team(int rank, int ranks) const {
    return has_teams(ranks) ? team_of(shared_heads, rank, ranks) : Team{0, rank, 1, 0};
  }
  [[nodiscard]] bool has_teams(int ranks) const {
    return shared_heads > 0 && static_cast<std::size_t>(ranks) > shared_heads;
  }
  /// Keys that its queries see: those before it and its rows.
  [[nodiscard]] std::size_t keys() const { return passes.keys.length; }
  /// The tensor of the parameter oracle that a parameter is.
  [[nodiscard]] const Shape& parameter_shape(ParameterId id) const {
    return parameter_layout.tensors()[parameter_index[id]];
  }

 protected:
  /// Sequence lengths and the key's filler. Throws InputError for lengths that the model cannot have (nothing in the
  /// prompt of a beginning, nothing generated, more than n_positions tokens) and for a pass length that none may have.
  Plan(const VerifyingKey& key, const PassShape& pass, const Division& division = {});
  /// Packs the oracles once all is declared; throws InputError if the witness is too large for the field.
  void pack_model(const ModelShape& model, const StateShapes& state);
  /// Packs the oracles, of which the parameters have these shapes, by ParameterId, once all is declared; throws
  /// InputError if the witness is too large for the field.
  void pack(std::vector<Shape> parameters, const StateShapes& state);
};

/// A statement of these sizes; ids and digests change no message's length.
Statement statement_of(const PassShape& pass);

/// The ids of the rows before the first generated token: the prompt, after a continuation's last token.
std::vector<std::uint32_t> prompt_rows(const Statement& statement);

/// Throws InputError for ids >= V. Lengths are checked where a plan is made.
void check_statement(const VerifyingKey& key, const Statement& statement);

/// The oracle of a state, with rows and rate for its size, on all roots of unity of an order: its tree outlives proofs.
PackedOracle pack_state(std::vector<Shape> tensors);
/// The oracle of a witness without hiding, with rows for its size, on as few pieces of a domain as its rate allows.
PackedOracle pack_witness(std::vector<Shape> tensors);
/// The oracle of a hiding proof's witness, likewise; all of the 2^log_rows rows are there.
PackedOracle pack_hiding_witness(std::vector<Shape> tensors, unsigned log_rows);
/// Rows and rate of the parameter oracle for its size. Those of a hiding key are all there.
OracleParameters parameter_oracle_parameters(std::vector<Shape> tensors, bool hiding);

}  // namespace tessera
