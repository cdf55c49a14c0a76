#pragma once

#include <cblas.h>

#include <cstddef>

namespace tessera {

/// A size as BLAS takes it.
inline int blas_int(std::size_t value) { return static_cast<int>(value); }

}  // namespace tessera
