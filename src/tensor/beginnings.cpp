#include "tensor/beginnings.hpp"

namespace tessera {

E evaluate(const Beginnings& matrix, const TensorPoint& point) {
  E sum;
  for (std::size_t g = 0; g < matrix.ends.size(); ++g) {
    sum += matrix.scales[g] * eq_index(point[1], g) * less_than(point[0], matrix.ends[g]);
  }
  return sum;
}

}  // namespace tessera
