#pragma once

#include <optional>

#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"
#include "tensor/claim.hpp"

namespace tessera {

/// What happens to one dimension in a contraction: summed with these 2^bits weights, or kept.
using Axis = std::optional<std::vector<E>>;

/// Sums of an integer tensor over the weighted dimensions, over all ranks (the result is the same everywhere). The
/// result is dense over the kept dimensions, each padded to 2^bits, first most significant. `shape` may regroup the
/// dimensions of the tensor's own shape as long as chunks and inner order stay the same.
std::vector<E> contract(const IntegerTensor& tensor, const Shape& shape, const std::vector<Axis>& axes,
                        Communicator& comm);

/// Sums of an integer tensor (.., feature, token) over features, over all ranks, with weights that differ by what
/// stands before them: `weights` is dense over (.., feature), the result over (.., token), each dimension padded to
/// 2^bits.
std::vector<E> contract_features(const IntegerTensor& tensor, std::span<const E> weights, Communicator& comm);

/// A table over leading dimensions, constant along last ones of `times` places.
std::vector<E> repeat_each(std::span<const E> table, std::size_t times);

/// <w, T>: the value of a claim with this weight.
E weighted_sum(const IntegerTensor& tensor, const Shape& shape, std::span<const Factor> weight, Communicator& comm);

}  // namespace tessera
