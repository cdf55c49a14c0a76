#pragma once

#include <cstddef>
#include <optional>

namespace tessera {

/// The parameter tensors of all models: names for the rows of parameter_table(). Norm 1 is before attention, 2 before
/// the MLP, o behind W_O, m behind the MLP, f the final one; gamma_q and gamma_k are the gains of norms on queries and
/// keys. A gain of a norm behind a branch is gamma*2^9 + gamma_low.
enum ParameterId : std::size_t {
  embedding,
  position,
  wq,
  wk,
  wv,
  wo,
  w1,
  w2,
  bq,
  bk,
  bv,
  bo,
  b1,
  b2,
  gamma1,
  beta1,
  gamma2,
  beta2,
  gammaf,
  betaf,
  w_gate,
  w_up,
  w_down,
  gamma_q,
  gamma_k,
  head,
  head_bias,
  gamma_o,
  gamma_m,
  gamma_o_low,
  gamma_m_low,
  parameter_count
};

/// Bits of gamma_o_low and gamma_m_low: so many that h*I*gain stays below 2^62 with any int16 pieces.
inline constexpr int gain_piece_bits = 9;
/// The parameter that holds the low bits of another one's values, if there is one; and the one whose bits it holds. A
/// checkpoint has their sum alone, under the latter's id; both have the exponent of the sum.
constexpr std::optional<ParameterId> low_piece(ParameterId id) {
  return id == gamma_o ? std::optional(gamma_o_low) : id == gamma_m ? std::optional(gamma_m_low) : std::nullopt;
}
constexpr std::optional<ParameterId> piece_of(ParameterId id) {
  return id == gamma_o_low ? std::optional(gamma_o) : id == gamma_m_low ? std::optional(gamma_m) : std::nullopt;
}

/// Names of exponents: of a parameter its id, of an activation one of these.
using ScaleId = std::size_t;
namespace scales {
enum : ScaleId {
  residual = parameter_count,  // the residual stream
  u1,                          // norms' outputs: before attention, before MLP, final
  u2,
  uf,
  hq,  // inputs of norms on q and k
  hk,
  q,
  k,
  v,         // y (attention output) has v's
  score,     // what soft-max takes
  uncapped,  // scores before a cap, where there is one
  mlp,       // what the activation takes: of a gated MLP the gate
  gelu,      // and what it makes
  product,   // t = a*U, the gated product
  ho,        // inputs of norms behind W_O and the MLP
  hm,
  count
};
}  // namespace scales

}  // namespace tessera
