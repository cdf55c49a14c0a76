#pragma once

#include <tessera/statement.hpp>

#include "hash/blake2s.hpp"

namespace tessera {

/// statement_seed() by the digest of the key.
Digest statement_seed(const Digest& key_digest, const Statement& statement);

}  // namespace tessera
