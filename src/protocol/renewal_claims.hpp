#pragma once

#include "protocol/renewal.hpp"
#include "tensor/multilinear.hpp"

namespace tessera {

/// A claim's weight on each tensor of parameters, from the coordinates that challenge() draws: a tensor takes the first
/// of them.
template <class Challenge>
std::vector<LinearForm> renewal_forms(const RenewalPlan& plan, const Challenge& challenge) {
  const std::vector<Shape>& tensors = plan.parameters.front().tensors();
  const std::size_t count = tensors.size() - 1;  // the last one is the random columns
  unsigned variables = 0;
  for (std::size_t t = 0; t < count; ++t) {
    variables = std::max(variables, tensors[t].bits());
  }
  Point point;
  for (unsigned i = 0; i < variables; ++i) {
    point.push_back(challenge());
  }
  std::vector<LinearForm> forms;
  for (std::size_t t = 0; t < count; ++t) {
    // a point's order is the protocol's, however many ranks share the tensors
    const std::span<const E> first = std::span(point).first(tensors[t].bits());
    forms.push_back({t, weight_at(to_tensor_point(tensors[t].undivided(), first))});
  }
  return forms;
}

}  // namespace tessera
