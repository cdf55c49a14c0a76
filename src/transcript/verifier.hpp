#pragma once

#include <stdexcept>

#include "transcript/account.hpp"
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

/// What verifying code sees of a proof. Received values have the scalar S: E, or Affine in hiding mode. Challenges,
/// points and weights are public, in E. A specialisation has
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

/// What does not depend on received values may also be run without a proof: VerifierTranscript checks one,
/// AccountingTranscript writes down what the check consists of.
template <>
class VerifierView<E> : public Transcript {
 public:
  virtual std::vector<E> receive(std::string_view label, std::size_t count) = 0;
  E receive(std::string_view label) { return receive(label, 1).front(); }
  std::vector<E> receive_public(std::string_view label, std::size_t count) { return receive(label, count); }
  virtual std::vector<F> receive_base(std::string_view label, std::size_t count) = 0;
  virtual std::vector<Digest> receive_digests(std::string_view label, std::size_t count) = 0;
  Digest receive_digest(std::string_view label) { return receive_digests(label, 1).front(); }
  /// Any bytes.
  virtual std::vector<std::uint8_t> receive_bytes(std::string_view label, std::size_t count) = 0;
  virtual void check_work(std::string_view label, unsigned bits) = 0;

  virtual E challenge(std::string_view label, double degree, std::string_view reason) = 0;
  virtual std::vector<std::size_t> positions(std::string_view label, std::size_t count, std::uint64_t size, double bits,
                                             std::string_view reason) = 0;
  virtual void identity(std::size_t variables, std::string_view reason) = 0;
  virtual void sumcheck(std::size_t rounds, std::size_t degree) = 0;

  [[nodiscard]] E product(const E& a, const E& b) const { return a * b; }
  template <class R>
  [[nodiscard]] E value(const R& relation, std::span<const E> factors) const {
    return relation(factors);
  }
  template <class Make>
  [[nodiscard]] auto public_value(Make&& make) const {
    return checks_ ? make() : decltype(make()){};
  }
  /// Throws Rejected at the current scope unless `ok`, where checks are made.
  void check(bool ok, std::string_view why) const;
  void check_equal(const E& a, const E& b, std::string_view why) const { check(a == b, why); }
  void check_nonzero(const E& a, std::string_view why) const { check(a != E::zero(), why); }
  template <class Condition>
  void check_public(Condition&& holds, std::string_view why) const {
    check(!checks_ || holds(), why);
  }

 protected:
  VerifierView(const Digest& seed, bool checks) : Transcript(seed), checks_(checks) {}

 private:
  bool checks_;
};

/// Reads a proof: what is received is parsed canonically (field elements < p) and absorbed. Throws Rejected.
class VerifierTranscript : public VerifierView<E> {
 public:
  VerifierTranscript(const Digest& seed, std::span<const std::uint8_t> payload)
      : VerifierView(seed, true), rest_(payload) {}
  using VerifierView::receive;
  std::vector<E> receive(std::string_view label, std::size_t count) override;
  std::vector<F> receive_base(std::string_view label, std::size_t count) override;
  std::vector<Digest> receive_digests(std::string_view label, std::size_t count) override;
  std::vector<std::uint8_t> receive_bytes(std::string_view label, std::size_t count) override;
  void check_work(std::string_view label, unsigned bits) override;

  using Transcript::challenge;
  using Transcript::positions;
  E challenge(std::string_view label, double /*degree*/, std::string_view /*reason*/) override {
    return challenge(label);
  }
  std::vector<std::size_t> positions(std::string_view label, std::size_t count, std::uint64_t size, double /*bits*/,
                                     std::string_view /*reason*/) override {
    return positions(label, count, size);
  }
  void identity(std::size_t /*variables*/, std::string_view /*reason*/) override {}
  void sumcheck(std::size_t /*rounds*/, std::size_t /*degree*/) override {}
  /// The payload must be used up.
  void finish() const { check(rest_.empty(), "trailing bytes after the proof"); }

 private:
  std::span<const std::uint8_t> take(std::string_view label, std::size_t bytes);
  std::span<const std::uint8_t> rest_;
};

/// Where accounting takes positions from: those of one proof, so that lengths of columns and siblings are that proof's.
using PositionSource = std::function<std::vector<std::size_t>(std::size_t count, std::uint64_t size)>;
/// Positions of which no others make the proof longer: as even and as many distinct ones as there can be.
std::vector<std::size_t> spread_positions(std::size_t count, std::uint64_t size);

/// Reads nothing, checks nothing and writes everything down; received values and challenges are zero.
class AccountingTranscript : public VerifierView<E> {
 public:
  explicit AccountingTranscript(PositionSource positions = spread_positions)
      : VerifierView(Digest{}, false), positions_(std::move(positions)) {}
  using VerifierView::receive;
  std::vector<E> receive(std::string_view label, std::size_t count) override;
  std::vector<F> receive_base(std::string_view label, std::size_t count) override;
  std::vector<Digest> receive_digests(std::string_view label, std::size_t count) override;
  std::vector<std::uint8_t> receive_bytes(std::string_view label, std::size_t count) override;
  void check_work(std::string_view label, unsigned bits) override;

  E challenge(std::string_view label, double degree, std::string_view reason) override;
  std::vector<std::size_t> positions(std::string_view label, std::size_t count, std::uint64_t size, double bits,
                                     std::string_view reason) override;
  void identity(std::size_t variables, std::string_view reason) override;
  void sumcheck(std::size_t rounds, std::size_t degree) override {
    account_.sumchecks.push_back({path(), rounds, degree});
  }

  [[nodiscard]] const Account& account() const { return account_; }
  /// The account, which leaves.
  [[nodiscard]] Account release() { return std::move(account_); }

 private:
  void message(std::string_view label, Account::Unit unit, std::size_t count);

  PositionSource positions_;
  Account account_;
  unsigned work_ = 0;  // ground since the last message
};

}  // namespace tessera
