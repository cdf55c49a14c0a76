#include "transcript/hiding_verifier.hpp"

#include <algorithm>

namespace tessera {

std::vector<Affine> VerifierView<Affine>::receive(std::string_view label, std::size_t count) {
  std::vector<Affine> values;
  values.reserve(count);
  for (const E& masked : transcript_.receive(label, count)) {
    values.push_back({masked, {{{HiddenCell::Kind::pad, pads_++}, -E::one()}}});
  }
  return values;
}

Affine VerifierView<Affine>::product(const Affine& a, const Affine& b) {
  if (b.terms.empty()) {
    return a * b.constant;
  }
  if (a.terms.empty()) {
    return b * a.constant;
  }
  return padded_product(single(a), single(b));
}

void VerifierView<Affine>::check_nonzero(const Affine& a, std::string_view why) {
  const Affine inverse = receive("inverse");
  check_equal(product(a, inverse), E::one(), why);
}

Affine VerifierView<Affine>::single(const Affine& a) {
  if (a.terms.back().cell.kind == HiddenCell::Kind::pad) {
    return a;
  }
  Affine value = receive("product");
  check_equal(value, a, "");
  return value;
}

Affine VerifierView<Affine>::padded_product(const Affine& a, const Affine& b) {
  Affine result(a.constant * b.constant);
  result += Affine(E{}, a.terms) * b.constant + Affine(E{}, b.terms) * a.constant;
  for (const Affine::Term& left : a.terms) {
    for (const Affine::Term& right : b.terms) {
      result += Affine(E{}, {{{HiddenCell::Kind::product, pair(left.cell.index, right.cell.index)},
                              left.coefficient * right.coefficient}});
    }
  }
  return result;
}

std::uint32_t VerifierView<Affine>::pair(std::uint32_t a, std::uint32_t b) {
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

}  // namespace tessera
