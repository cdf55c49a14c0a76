#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include <tessera/statement.hpp>

#include "plan/key.hpp"
#include "transcript/verifier.hpp"

/// \file
/// Sampling with public randomness: which integers decide, and what a proof says of them in clear
/// (src/spec/transformer.md, Sampling).

namespace tessera {

struct Plan;

inline constexpr unsigned weight_table_log_size = 17;
inline constexpr std::int64_t far_distance = std::int64_t{1} << 16;  // its weight is 0
inline constexpr std::uint32_t top_p_unit = 1 << 16;                 // leaves nothing out
inline constexpr unsigned uniform_limbs = 3;                         // of 16 bits

/// W[d] = round(2^22*exp(-d/4096)) for d < 2^16, then zeros, in integers alone: 2^17 rows.
const std::vector<std::int64_t>& weight_table();

/// u of the generated token at a position of the conversation: the first 48 bits of
/// BLAKE2s-256("tessera sampling" || seed || u64 position).
std::uint64_t uniform_at(const Digest& seed, std::uint64_t position);
/// The limbs of such a number, lowest first.
std::array<std::uint64_t, uniform_limbs> limbs_of(std::uint64_t uniform);

/// floor(u*sum/2^48) of such a number, sum up to 2^41, and how it comes about limb by limb: u_i*sum + q_(i-1) =
/// 2^16*q_i + r_i.
struct UniformHit {
  std::array<std::int64_t, uniform_limbs> quotient{}, remainder{};  // q_i, r_i
  [[nodiscard]] std::int64_t value() const { return quotient.back(); }
};
UniformHit hit_of(const std::array<std::uint64_t, uniform_limbs>& limbs, std::int64_t sum);

/// l = rshift(a*L, S).
inline std::int64_t score_of(std::int64_t logit, const Sampling& sampling, int shift) {
  return (logit * sampling.inverse_temperature + (std::int64_t{1} << (shift - 1))) >> shift;
}

/// The widths of a model's sampled logits.
struct SampledWidths {
  int shift = 0;            // S: l = rshift(a*L, S) has exponent 12
  unsigned logit_bits = 0;  // w_L, signed
  unsigned score_bits = 0;  // w_l, signed
};
/// Throws InputError naming what the statement's sampling cannot be under this key: numbers outside their limits, and
/// candidates where the key is hiding.
SampledWidths check_sampling(const VerifyingKey& key, const Sampling& sampling, std::size_t generated);

/// What decides about one row's token.
struct Choice {
  std::size_t within = 0;                            // J': candidates that min-p leaves
  std::size_t kept = 0;                              // J: of these, those that top-p leaves
  std::size_t chosen = 0;                            // j*, the place of the token
  std::vector<std::int64_t> scores;                  // l of each candidate
  std::vector<std::int64_t> weights;                 // w of each, 0 from J' on
  std::array<std::uint64_t, uniform_limbs> limbs{};  // of u
};
/// `logits`: the candidates', descending.
Choice choose(std::span<const std::int64_t> logits, const Sampling& sampling, int shift, std::uint64_t position);

/// What a proof says of all rows in clear, row by row; nothing where tokens are not sampled from candidates.
struct Candidates {
  std::size_t top_k = 0;
  std::vector<std::uint32_t> ids;           // (row, place), best first
  std::vector<std::uint32_t> within, kept;  // J', J by row
  std::vector<std::uint32_t> chosen;        // j* by row: where the generated token stands
  [[nodiscard]] std::size_t rows() const { return within.size(); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t row) const {
    return std::span(ids).subspan(row * top_k, top_k);
  }
  static const Candidates& none();
};

/// The messages `candidates` (u32 ids, row by row) and `counts` (u16 J', then u16 J of each row), where the statement
/// is sampled from candidates. Throws Rejected for ids of no token, for counts that no honest prover has and for a
/// generated token that is not among the first J of its row.
Candidates receive_candidates(VerifierView<E>& transcript, const Plan& plan, std::size_t vocabulary,
                              const Statement& statement);
void send_candidates(ProverTranscript& transcript, const Plan& plan, const Candidates& candidates);

}  // namespace tessera
