#pragma once

#include <cstddef>

namespace tessera {

/// Gatherings of fewer bytes are no matter for memory that the ranks of a node share (Communicator::gather_shared):
/// agreeing about it takes as long as some messages.
inline constexpr std::size_t least_shared_bytes = std::size_t{1} << 18;

}  // namespace tessera
