#pragma once

#include <set>

#include "transcript/affine.hpp"
#include "transcript/pads.hpp"
#include "transcript/verifier.hpp"

namespace tessera {

/// What verifying code sees of a hiding proof (VerifierView): received values are known up to their pads, and every
/// check becomes a constraint on committed cells. S: E checks a proof, Nothing takes account. A product of two hidden
/// values is made of committed products of two pads; where a factor is such a product itself, the prover sends it as a
/// padded scalar "product" of its own first.
template <class S>
class VerifierView<Affine<S>> {
 public:
  using Scalar = Affine<S>;

  /// `layout`: none while the layout is found out.
  explicit VerifierView(VerifierView<S>& transcript, const PadLayout* layout = nullptr)
      : transcript_(transcript), layout_(layout) {}

  [[nodiscard]] Transcript::Scope scope(std::string_view name) { return transcript_.scope(name); }
  [[nodiscard]] const std::string& path() const { return transcript_.path(); }

  std::vector<Scalar> receive(std::string_view label, std::size_t count) {
    std::vector<Scalar> values;
    values.reserve(count);
    for (const S& masked : transcript_.receive(label, count)) {
      values.push_back({masked, {{{HiddenCell::Kind::pad, pads_++}, -E::one()}}});
    }
    return values;
  }
  Scalar receive(std::string_view label) { return receive(label, 1).front(); }
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

  [[nodiscard]] Scalar product(const Scalar& a, const Scalar& b) {
    if (b.terms.empty()) {
      return scaled(a, b.constant);
    }
    if (a.terms.empty()) {
      return scaled(b, a.constant);
    }
    return padded_product(single(a), single(b));
  }
  template <class R>
  [[nodiscard]] Scalar value(const R& relation, std::span<const Scalar> factors) {
    std::vector<Operand> operands;
    operands.reserve(factors.size());
    for (const Scalar& factor : factors) {
      operands.push_back({this, factor});
    }
    return relation(std::span<const Operand>(operands)).value;
  }
  void check_equal(const Scalar& a, const Scalar& b, std::string_view /*why*/) { constraints_.push_back(a - b); }
  /// The prover knows its inverse.
  void check_nonzero(const Scalar& a, std::string_view why) {
    const Scalar inverse = receive("inverse");
    check_equal(product(a, inverse), E::one(), why);
  }
  template <class Condition>
  void check_public(Condition&& holds, std::string_view why) const {
    transcript_.check_public(std::forward<Condition>(holds), why);
  }

  /// What must be zero.
  [[nodiscard]] const std::vector<Scalar>& constraints() const { return constraints_; }
  /// What was received and multiplied so far.
  [[nodiscard]] PadLayout layout() const { return {pads_, {found_.begin(), found_.end()}}; }
  [[nodiscard]] VerifierView<S>& transcript() { return transcript_; }

 private:
  /// A value that a relation computes with.
  struct Operand {
    VerifierView* view;
    Scalar value;
    friend Operand operator+(const Operand& a, const Operand& b) { return {a.view, a.value + b.value}; }
    friend Operand operator-(const Operand& a, const Operand& b) { return {a.view, a.value - b.value}; }
    friend Operand operator*(const Operand& a, const Operand& b) { return {a.view, a.view->product(a.value, b.value)}; }
    friend Operand operator*(const E& scale, const Operand& a) { return {a.view, scale * a.value}; }
    friend Operand operator*(const Operand& a, F scale) { return {a.view, a.value * scale}; }
  };

  static Scalar scaled(const Scalar& a, const S& scale) {
    if constexpr (std::same_as<S, E>) {
      return a * scale;
    }
    return a;
  }
  /// The same value without products of pads.
  Scalar single(const Scalar& a) {
    if (a.terms.back().cell.kind == HiddenCell::Kind::pad) {
      return a;
    }
    Scalar value = receive("product");
    check_equal(value, a, "");
    return value;
  }
  Scalar padded_product(const Scalar& a, const Scalar& b) {
    Scalar result(product_of(a.constant, b.constant));
    result += scaled({S{}, a.terms}, b.constant) + scaled({S{}, b.terms}, a.constant);
    for (const auto& left : a.terms) {
      for (const auto& right : b.terms) {
        result += Scalar(S{}, {{{HiddenCell::Kind::product, pair(left.cell.index, right.cell.index)},
                                left.coefficient * right.coefficient}});
      }
    }
    return result;
  }
  static S product_of(const S& a, const S& b) {
    if constexpr (std::same_as<S, E>) {
      return a * b;
    }
    return {};
  }
  /// The number of the product of two pads.
  std::uint32_t pair(std::uint32_t a, std::uint32_t b) {
    const std::pair<std::uint32_t, std::uint32_t> wanted = std::minmax(a, b);
    if (layout_ == nullptr) {
      found_.insert(wanted);
      return 0;
    }
    const auto place = std::ranges::lower_bound(layout_->pairs, wanted);
    if (place == layout_->pairs.end() || *place != wanted) {
      throw std::logic_error("hiding: a product of pads that the layout does not have");
    }
    return static_cast<std::uint32_t>(place - layout_->pairs.begin());
  }

  VerifierView<S>& transcript_;
  const PadLayout* layout_;
  std::uint32_t pads_ = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> found_;
  std::vector<Scalar> constraints_;
};

}  // namespace tessera
