#pragma once

#include <cstddef>
#include <functional>

namespace tessera {

/// Told how much is done: units done, units in all.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

}  // namespace tessera
