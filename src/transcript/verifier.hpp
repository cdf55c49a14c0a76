#pragma once

#include <stdexcept>

#include "transcript/account.hpp"
#include "transcript/nothing.hpp"
#include "transcript/transcript.hpp"

namespace tessera {

/// A malformed or false proof: thrown by the verifier, caught once, in verify_inference.
class Rejected : public std::runtime_error {
 public:
  Rejected(std::string scope, const std::string& why) : std::runtime_error(why), scope_(std::move(scope)) {}
  [[nodiscard]] const std::string& scope() const { return scope_; }

 private:
  std::string scope_;
};

/// What verifying code sees of a proof. Received values have the scalar S: E checks a proof (VerifierTranscript),
/// Nothing writes down what the check consists of (AccountingTranscript). Challenges, points and weights are public, in
/// E. A specialisation has
///
///   scope, path                         names, see Transcript
///   receive, receive_public,            the next message: values that checks may combine; values, elements of F and
///   receive_base, receive_digest(s)     digests that are public in every mode
///   challenge(label, degree, reason)    degree: of the polynomial that a false statement plugs the challenge into
///   positions(.., bits, reason)         2^-bits: the chance that they miss every difference
///   identity(variables, reason)         an identity of multilinear polynomials is checked at a point drawn before
///   sumcheck(rounds, degree)            announces the rounds that follow
///   product, value(relation, factors)   the only two places where received values are multiplied
///   check_equal, check_nonzero          on received values; check_public(condition): on public ones
///   check_work
///   public_value(make)                  what only a check needs, made only where checks are made
template <class S>
class VerifierView;

/// Reads a proof: what is received is parsed canonically (field elements < p) and absorbed. Throws Rejected.
template <>
class VerifierView<E> : public Transcript {
 public:
  VerifierView(const Digest& seed, std::span<const std::uint8_t> payload) : Transcript(seed), rest_(payload) {}
  std::vector<E> receive(std::string_view label, std::size_t count);
  E receive(std::string_view label) { return receive(label, 1).front(); }
  std::vector<E> receive_public(std::string_view label, std::size_t count) { return receive(label, count); }
  std::vector<F> receive_base(std::string_view label, std::size_t count);
  Digest receive_digest(std::string_view label);
  std::vector<Digest> receive_digests(std::string_view label, std::size_t count);
  void check_work(std::string_view label, unsigned bits);

  using Transcript::challenge;
  using Transcript::positions;
  E challenge(std::string_view label, double /*degree*/, std::string_view /*reason*/) { return challenge(label); }
  std::vector<std::size_t> positions(std::string_view label, std::size_t count, unsigned log_size, double /*bits*/,
                                     std::string_view /*reason*/) {
    return positions(label, count, log_size);
  }
  void identity(std::size_t /*variables*/, std::string_view /*reason*/) {}
  void sumcheck(std::size_t /*rounds*/, std::size_t /*degree*/) {}

  [[nodiscard]] E product(const E& a, const E& b) const { return a * b; }
  template <class R>
  [[nodiscard]] E value(const R& relation, std::span<const E> factors) const {
    return relation(factors);
  }
  template <class Make>
  [[nodiscard]] auto public_value(Make&& make) const {
    return make();
  }
  /// Throws Rejected at the current scope unless `ok`.
  void check(bool ok, std::string_view why) const;
  void check_equal(const E& a, const E& b, std::string_view why) const { check(a == b, why); }
  void check_nonzero(const E& a, std::string_view why) const { check(a != E::zero(), why); }
  template <class Condition>
  void check_public(Condition&& holds, std::string_view why) const {
    check(holds(), why);
  }
  /// The payload must be used up.
  void finish() const { check(rest_.empty(), "trailing bytes after the proof"); }

 private:
  std::span<const std::uint8_t> take(std::string_view label, std::size_t bytes);
  std::span<const std::uint8_t> rest_;
};

using VerifierTranscript = VerifierView<E>;

/// Where accounting takes positions from: those of one proof, so that lengths of columns and siblings are that proof's.
using PositionSource = std::function<std::vector<std::size_t>(std::size_t count, unsigned log_size)>;
/// Positions of which no others make the proof longer: as even and as many distinct ones as there can be.
std::vector<std::size_t> spread_positions(std::size_t count, unsigned log_size);

/// Reads nothing and writes everything down; challenges are zero.
template <>
class VerifierView<Nothing> : public Transcript {
 public:
  explicit VerifierView(PositionSource positions = spread_positions)
      : Transcript(Digest{}), positions_(std::move(positions)) {}
  std::vector<Nothing> receive(std::string_view label, std::size_t count);
  Nothing receive(std::string_view label) { return receive(label, 1).front(); }
  std::vector<E> receive_public(std::string_view label, std::size_t count);
  std::vector<F> receive_base(std::string_view label, std::size_t count);
  Digest receive_digest(std::string_view label) { return receive_digests(label, 1).front(); }
  std::vector<Digest> receive_digests(std::string_view label, std::size_t count);
  void check_work(std::string_view label, unsigned bits);

  E challenge(std::string_view label, double degree, std::string_view reason);
  std::vector<std::size_t> positions(std::string_view label, std::size_t count, unsigned log_size, double bits,
                                     std::string_view reason);
  void identity(std::size_t variables, std::string_view reason);
  void sumcheck(std::size_t rounds, std::size_t degree) { account_.sumchecks.push_back({path(), rounds, degree}); }

  [[nodiscard]] Nothing product(Nothing, Nothing) const { return {}; }
  template <class R>
  [[nodiscard]] Nothing value(const R& /*relation*/, std::span<const Nothing> /*factors*/) const {
    return {};
  }
  template <class Make>
  [[nodiscard]] auto public_value(Make&& make) const {
    return decltype(make()){};
  }
  void check_equal(Nothing, Nothing, std::string_view /*why*/) const {}
  void check_nonzero(Nothing, std::string_view /*why*/) const {}
  template <class Condition>
  void check_public(Condition&& /*holds*/, std::string_view /*why*/) const {}

  [[nodiscard]] const Account& account() const { return account_; }
  /// The account, which leaves.
  [[nodiscard]] Account release() { return std::move(account_); }

 private:
  void message(std::string_view label, Account::Unit unit, std::size_t count);

  PositionSource positions_;
  Account account_;
  unsigned work_ = 0;  // ground since the last message
};

using AccountingTranscript = VerifierView<Nothing>;

}  // namespace tessera
