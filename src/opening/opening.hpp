#pragma once

#include <functional>
#include <memory>
#include "tensor/claim.hpp"
#include "transcript/verifier.hpp"
#include "words/codeword_store.hpp"
#include "memory/storage.hpp"

/// The opening: one proof for all claims on all oracles, an interleaved Reed-Solomon code bound row variable by row
/// variable (WHIR), always within the unique-decoding radius.
///
/// Statement: for claims (w_i, y_i), numbered through the claims of oracle 0, then oracle 1, ...: sum_x w_i(x) f_j(x) =
/// y_i for the polynomial f_j that oracle j's root commits to. Oracle j is a matrix of rows lo, numbered by
/// k_j variables, and columns hi (oracle.hpp). Roots and claimed values are absorbed before. K = max k_j.
///
///   |  # | from | message                                                                                          |
///   |  1 | V    | gamma; target of oracle j: sum of gamma^i * y_i over its claims                                  |
///   |  2 | P, V | K rounds of sum-check (degree 2) over the row variables, lowest first. Oracle j enters at round  |
///   |    |      | K - k_j, when its target joins the running claim, and uses the last k_j challenges: point alpha_j |
///   |    |      | v_j(hi) = sum_lo beta(alpha_j, lo) f_j(hi, lo); v_0 = the v_j side by side, each at a multiple   |
///   |    |      | of the most columns that one of its chunks has (schedule.cpp), and zeros                          |
///   |  3 | P    | root of v_t: 16 rows (the low 4 bits), entries in E, at the schedule's rate                      |
///   |  4 | P    | work: a nonce                                                                                    |
///   |  5 | V, P | positions in each opened word's domain (all drawn first); then word by word the distinct columns |
///   |    |      | and their multi-proof. Opened words: the oracles (t = 0), else v_{t-1}                           |
///   |  6 | V    | delta: sum_lo beta(alpha, lo) column_x[lo] = <v_t, (1, x, x^2, ...)> joins with coefficient      |
///   |    |      | delta, delta^2, ... (words in order, positions ascending)                                        |
///   |  7 | P, V | 4 rounds of sum-check over v_t's low variables; v_{t+1} = v_t bound there. Back to 3             |
///   |  8 | P    | instead of 3, once v_t has <= 2560 values that can be other than 0: these; then 4, 5             |
///   |  9 | V    | checks each opened column's claim on v_t directly                                                |
///   | 10 | P, V | sum-check over v_t's variables: checks claim = v_t(z) * (weight of all claims and powers at z)   |
///
/// Sum-checks bind the index's low bits first, so the bound variables are a point of v_0 and, with alpha_j, of oracle
/// j.
///
/// Soundness (round by round; the verifier states every line where it draws). C is a code of length n, on any points,
/// and dimension D, the number of columns that the word uses, any number; rate rho = D/n, decoded up to e = n(1-rho)/2
/// wrong columns, where at most one codeword is that close: a committed word either has one message or none. A state is
/// bad if a word in play has no message or its message breaks the running claim.
///  - gamma, delta: a false claim survives with (number of claims)/|E|; one that enters l rounds late counts 2^l times.
///  - a bound variable: the sum-check lets a false claim through with 2/|E|. u_0 + alpha (u_1 - u_0) of a word without
///    a message has one for at most n values of alpha: correlated agreement on lines for delta <= (1-rho)/2
///    (Ben-Sasson, Carmon, Ishai, Kopparty, Saraf, "Proximity gaps for Reed-Solomon codes", 2020, Theorem 4.1, for any
///    dimension; the interleaved form goes back to Ames, Hazay, Ishai, Venkitasubramaniam, "Ligero", 2017). Rows side
///    by side are one word over the extension of E that they span: E-valued challenges are among that field's, the
///    evaluation domain lies in F, and the theorem bounds the number of bad challenges, so interleaving costs no
///    factor. Binding k rows is k such steps, each with its own challenge (tensor coefficients). Error (2 + sum of n
///    over the words in play)/|E| a variable.
///  - positions: let the new vector's message satisfy the claim although the state was bad. Then for one opened word
///    it is not the bound word's decoding, so its codeword differs from the bound word in more than e columns, and each
///    position misses all of those with probability below (1+rho)/2. Error ((1+rho)/2)^positions * 2^-grinding.
///    Distinct messages are unique without an out-of-domain sample because no list is decoded.
///    What makes D the dimension: an opened column's claim is on the D values of the next vector where the bound word's
///    message belongs, and on no other, so the codeword in question is that of a polynomial of degree below D. The next
///    vector has D' = ceil(D/16) columns likewise, and so on to the clear vector, which has as many values as are sent:
///    no word has a tail that would have to be proven to be zero. Cells of a message that are in no segment, or in its
///    last column behind the last value, may be anything: all weights are zero there, and from the last used place on
///    they stay so when variables are bound.
///  - the clear vector is its own decoding.
/// Hence every round's words may have any rate; WHIR (Arnon, Chiesa, Fenzi, Yogev 2024) is the source of the shape.
/// Not zero-knowledge: opened columns and the clear vector reveal combinations of the committed values.
namespace tessera {

/// The prover's side of one oracle in the opening.
struct OracleWitness {
  std::vector<IntegerTensor> tensors;
  CodewordStore* codeword = nullptr;
  std::function<void()> bound = {};  // called once v_0 is made: the tensors are read by the codeword alone then
};

struct HidingClaims;  // batch.hpp
struct Affine;        // transcript/affine.hpp
class VectorMasks;    // vector_masks.hpp
/// The prover's random elements in the opening.
struct HidingMasks {
  std::vector<E> rows;                   // as mask_weights() has them
  const VectorMasks* vectors = nullptr;  // what is added to vectors
  std::function<void()> bound = {};      // called once v_0 is made: witnesses' tensors are read by codewords alone then
};

/// One opening for all claims on all oracles (interleaved WHIR in the unique-decoding regime). claims[j] are the claims
/// on oracle j; Claim::tensor numbers the tensors of its layout. All claimed values are already absorbed.
void verify_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                    std::span<const std::vector<Claim>> claims);
void prove_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                   std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                   Communicator& comm);

/// The opening of a hiding proof, whose oracles are parameters and witness (masking.hpp).
void verify_hiding_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                           std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding);
/// `claims`: as the verifier sees them.
void prove_hiding_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                          std::span<const OracleWitness> witnesses,
                          std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding,
                          const HidingMasks& masks, Communicator& comm);

/// Two commitments to the same tensors, of which nothing else is revealed: every form has the same value in oracles 0
/// and 1. Oracle 2, the carrier, has nothing but masks; `mask_tensor` of it holds the row masks.
void verify_equality_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                             std::span<const LinearForm> forms, std::size_t mask_tensor);
void prove_equality_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                            std::span<const OracleWitness> witnesses, std::span<const LinearForm> forms,
                            std::size_t mask_tensor, const HidingMasks& masks, Communicator& comm);

}  // namespace tessera
