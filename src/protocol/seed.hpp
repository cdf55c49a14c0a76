#pragma once

#include "hash/blake2s.hpp"

namespace tessera {

/// The seed that a client's number and what a prover has committed to before it make together:
/// BLAKE2s-256("tessera seed" || opening || client's). The commitment is BLAKE2s-256(opening).
Digest joint_seed(const Digest& opening, const Digest& client);

}  // namespace tessera
