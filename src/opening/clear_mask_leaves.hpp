#pragma once

#include "opening/schedule.hpp"
#include "words/codeword_store.hpp"

namespace tessera {

/// What the leaves of the last vector's word hold after the column: at each point the value of the polynomial that
/// masks the vector in clear.
std::shared_ptr<const LeafExtras> clear_mask_leaves(std::span<const E> mask, const CommittedWord& word);

}  // namespace tessera
