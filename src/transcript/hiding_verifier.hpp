#pragma once

#include <set>

#include "transcript/affine.hpp"
#include "transcript/pads.hpp"
#include "transcript/verifier.hpp"

namespace tessera {

/// What verifying code sees of a hiding proof (VerifierView): received values are known up to their pads, and every
/// check becomes a constraint on committed cells. A product of two hidden values is made of committed products of two
/// pads; where a factor is such a product itself, the prover sends it as a padded scalar "product" of its own first.
template <>
class VerifierView<Affine> {
 public:
  /// `layout`: none while the layout is found out.
  explicit VerifierView(VerifierView<E>& transcript, const PadLayout* layout = nullptr)
      : transcript_(transcript), layout_(layout) {}

  [[nodiscard]] Transcript::Scope scope(std::string_view name) { return transcript_.scope(name); }
  [[nodiscard]] const std::string& path() const { return transcript_.path(); }

  std::vector<Affine> receive(std::string_view label, std::size_t count);
  Affine receive(std::string_view label) { return receive(label, 1).front(); }
  std::vector<E> receive_public(std::string_view label, std::size_t count) {
    return transcript_.receive_public(label, count);
  }
  Digest receive_digest(std::string_view label) { return transcript_.receive_digest(label); }
  void check_work(std::string_view label, unsigned bits) { transcript_.check_work(label, bits); }
  E challenge(std::string_view label, double degree, std::string_view reason) {
    return transcript_.challenge(label, degree, reason);
  }
  void identity(std::size_t variables, std::string_view reason) { transcript_.identity(variables, reason); }
  void sumcheck(std::size_t rounds, std::size_t degree) { transcript_.sumcheck(rounds, degree); }
  template <class Make>
  [[nodiscard]] auto public_value(Make&& make) const {
    return transcript_.public_value(std::forward<Make>(make));
  }

  [[nodiscard]] Affine product(const Affine& a, const Affine& b);
  template <class R>
  [[nodiscard]] Affine value(const R& relation, std::span<const Affine> factors) {
    std::vector<Operand> operands;
    operands.reserve(factors.size());
    for (const Affine& factor : factors) {
      operands.push_back({this, factor});
    }
    return relation(std::span<const Operand>(operands)).value;
  }
  void check_equal(const Affine& a, const Affine& b, std::string_view /*why*/) { constraints_.push_back(a - b); }
  /// The prover knows its inverse.
  void check_nonzero(const Affine& a, std::string_view why);
  template <class Condition>
  void check_public(Condition&& holds, std::string_view why) const {
    transcript_.check_public(std::forward<Condition>(holds), why);
  }

  /// What must be zero.
  [[nodiscard]] const std::vector<Affine>& constraints() const { return constraints_; }
  /// What was received and multiplied so far.
  [[nodiscard]] PadLayout layout() const { return {pads_, {found_.begin(), found_.end()}}; }
  [[nodiscard]] VerifierView<E>& transcript() { return transcript_; }

 private:
  /// A value that a relation computes with.
  struct Operand {
    VerifierView* view;
    Affine value;
    friend Operand operator+(const Operand& a, const Operand& b) { return {a.view, a.value + b.value}; }
    friend Operand operator-(const Operand& a, const Operand& b) { return {a.view, a.value - b.value}; }
    friend Operand operator*(const Operand& a, const Operand& b) { return {a.view, a.view->product(a.value, b.value)}; }
    friend Operand operator*(const E& scale, const Operand& a) { return {a.view, scale * a.value}; }
    friend Operand operator*(const Operand& a, F scale) { return {a.view, a.value * scale}; }
  };

  /// An affine form without products of pads that has the value of `a`.
  Affine single(const Affine& a);
  Affine padded_product(const Affine& a, const Affine& b);
  /// The number of the product of two pads.
  std::uint32_t pair(std::uint32_t a, std::uint32_t b);

  VerifierView<E>& transcript_;
  const PadLayout* layout_;
  std::uint32_t pads_ = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> found_;
  std::vector<Affine> constraints_;
};

}  // namespace tessera
