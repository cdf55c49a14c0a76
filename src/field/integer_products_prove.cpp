#include <tessera/field/integer_products.hpp>

namespace tessera {
namespace {

template <class T>
F to_field(T value) {
  return F::from_signed(static_cast<std::int64_t>(value));
}

}  // namespace

template <class T>
void combine_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  for (std::size_t r = 0; r < weights.size(); ++r) {
    for (std::size_t c = 0; c < sums.size(); ++c) {
      sums[c] += weights[r] * to_field(matrix[r * sums.size() + c]);
    }
  }
}

template <class T>
void dot_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  for (std::size_t r = 0; r < sums.size(); ++r) {
    for (std::size_t c = 0; c < weights.size(); ++c) {
      sums[r] += weights[c] * to_field(matrix[r * weights.size() + c]);
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void combine_integer_rows(std::span<const E>, std::span<const T>, std::span<E>);          \
  template void dot_integer_rows(std::span<const E>, std::span<const T>, std::span<E>)
TESSERA_INSTANTIATE(std::int16_t);
TESSERA_INSTANTIATE(std::uint16_t);
TESSERA_INSTANTIATE(std::int32_t);
TESSERA_INSTANTIATE(std::int64_t);
#undef TESSERA_INSTANTIATE

}  // namespace tessera
