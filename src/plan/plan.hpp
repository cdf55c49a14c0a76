#pragma once

#include "lookup/lookup.hpp"
#include "plan/trace.hpp"
#include "plan/key.hpp"

namespace tessera {

/// Number of a committed tensor in its oracle.
using TensorId = std::size_t;

/// The committed parameter tensors, in the order of the parameter oracle. Shapes: V vocabulary, B block, F feature,
/// A the q/k/v layout, N MLP feature; weights are (block, out, in).
enum ParameterId : TensorId {
  embedding,  // (V, F)
  position,   // (n_positions, F)
  wq,
  wk,
  wv,  // (B, A, F)
  wo,  // (B, F, F)
  w1,  // (B, N, F)
  w2,  // (B, F, N)
  bq,
  bk,
  bv,  // (B, A)
  bo,  // (B, F)
  b1,  // (B, N)
  b2,  // (B, F)
  gamma1,
  beta1,
  gamma2,
  beta2,  // (B, F)
  gammaf,
  betaf,  // (F)
  parameter_count
};

/// Shapes of the parameter tensors, indexed by ParameterId.
std::vector<Shape> parameter_shapes(const ModelShape& shape);

/// A range-checked tensor: value + offset*Pres = sum_i 2^(16*i) * piece_i, every piece a column of the look-up in a
/// range table, the top one at its exact remaining width. For remainders all pieces are committed; otherwise the top
/// piece is virtual (a function of value and lower pieces), so pieces and value cannot drift apart.
struct RangeCheck {
  std::string name;
  Shape shape;
  unsigned width = 0;  // bits of value + offset
  std::int64_t offset = 0;
  std::vector<std::size_t> columns;  // look-up column of every piece, lowest first
  std::vector<TensorId> committed;   // witness tensor of the committed pieces, lowest first
  [[nodiscard]] std::size_t pieces() const { return columns.size(); }
};

/// A table look-up of pairs: input column a, output b committed.
struct PairLookup {
  std::size_t column = 0;
  TensorId output = 0;
  Shape shape;
};

/// Committed and range-checked tensors of one layer norm (per block and token, or per token for the final one).
struct LayerNormPlan {
  std::size_t number = 0;  // 0: before attention, 1: before the MLP, 2: final
  Shape activation;        // (B,F,T) or (F,T)
  Shape token;             // (B,T) or (T)
  TensorId mu = 0, sigma = 0, inverse = 0;
  RangeCheck mu_range;                               // w_x, signed
  RangeCheck mean_remainder, mean_complement;        // rho_mu, d-1-rho_mu
  RangeCheck sigma_range;                            // 31
  RangeCheck root_remainder, root_complement;        // V-sigma^2, 2*sigma-(V-sigma^2): 32 each
  RangeCheck inverse_range;                          // I
  RangeCheck inverse_remainder, inverse_complement;  // rho_I, sigma-1-rho_I: 31 each
  RangeCheck u, u_remainder;
  int shift = 0;       // of u's rshift
  int bias_shift = 0;  // beta*2^b
};

/// Everything that verifier and prover derive from (key, prompt length, s, G) before the proof: shapes, committed
/// tensors, look-up structure. Nothing here is read from a proof.
struct Plan {
  ModelShape model;
  Exponents exponents;
  IntegerConstants constants;
  std::size_t prompt_length = 0;
  std::size_t generated = 0;      // G
  std::size_t tokens = 0;         // s
  std::size_t padded_tokens = 0;  // s_hat
  std::uint32_t filler = 0;       // token that pads the sequence
  bool whole_heads = true;        // m is a power of two: q, k, v are already in the padded head layout
  ActivationShapes shapes;
  Shape head_feature;  // (B, H*m_hat, T): O and y with head and place as one dimension
  Shape logits;        // (V, G)

  LayerNormPlan ln1, ln2, lnf;
  TensorId x_in = 0, x_mid = 0, x_end = 0;
  RangeCheck x_in_range, x_mid_range, x_end_range;
  RangeCheck q, k, v, q_remainder, k_remainder, v_remainder;
  PairLookup exponential;  // (d, e) over scores
  RangeCheck score_remainder;
  TensorId row_max = 0, row_inverse = 0, row_sum_quotient = 0;                           // M, R, A' over (B,H,T)
  RangeCheck row_max_range, row_inverse_range, division_remainder, division_complement;  // M, R, rho_R, D-1-rho_R
  RangeCheck quotient_range, count_range;                                                // A', T-1
  RangeCheck y, y_remainder;
  RangeCheck o_remainder, mlp_remainder, mlp_out_remainder;
  PairLookup gelu;                       // (z, g) over (B,N,T)
  TensorId token_logit = 0;              // L_tok (G)
  RangeCheck logit_difference;           // (V, G), 48 bits
  std::vector<TensorId> multiplicities;  // per table

  std::vector<Shape> witness_shapes;       // by TensorId
  std::vector<std::string> witness_names;  // by TensorId
  LookupStructure lookup;

  OracleLayout parameter_layout, witness_layout;
  OracleParameters witness_oracle;

  /// The parameter oracle comes from the key; exponents give all shifts. Throws InputError for statements that the
  /// model cannot have (empty prompt, nothing generated, more than n_positions tokens, ids >= V).
  static Plan of(const VerifyingKey& key, const Statement& statement);
};

/// Rows and rate of the witness oracle for its size.
OracleParameters witness_oracle_parameters(unsigned log_size);
/// Rows and rate of the parameter oracle for its size.
OracleParameters parameter_oracle_parameters(unsigned log_size);

}  // namespace tessera
