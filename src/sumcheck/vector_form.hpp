#pragma once

#include "field/extension.hpp"

namespace tessera {

/// A relation that vector kernels know. A relation with `VectorForm vector_form() const` says that it is one of them.
struct VectorForm {
  enum class Kind : std::uint8_t {
    products,        ///< v[0]*v[terms] + v[1]*v[terms+1] + ..., degree 2
    triple_product,  ///< v[0]*v[1]*v[2], degree 3
    norm,            ///< v[0]*(v[1]-v[2])*v[3]*v[4] + lambda*v[5]*v[1]^2, degree 4
  };
  Kind kind = Kind::products;
  std::size_t terms = 1;
  E lambda;
};

}  // namespace tessera
