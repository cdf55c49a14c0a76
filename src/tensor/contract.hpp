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

/// <w, T>: the value of a claim with this weight.
E weighted_sum(const IntegerTensor& tensor, const Shape& shape, std::span<const Factor> weight, Communicator& comm);

}  // namespace tessera
