#include "checkpoints/tensor_names.hpp"

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

/// Which place of a head in the checkpoint each place here is.
std::vector<std::size_t> sources(const TensorNames& names, std::size_t head_size) {
  const std::size_t half = head_size / 2;
  const std::size_t turned = names.turned == 0 ? half : names.turned / 2;
  std::vector<std::size_t> from(head_size);
  for (std::size_t i = 0; i < half; ++i) {
    if (i < turned) {
      from[i] = names.interleaved ? 2 * i : i;
      from[half + i] = names.interleaved ? 2 * i + 1 : i + turned;
    } else {
      from[i] = turned + i;  // behind 2*turned, i - turned
      from[half + i] = half + i;
    }
  }
  return from;
}

}  // namespace

bool is_rotary_buffer(std::string_view tensor) {
  constexpr std::string_view names[] = {"inv_freq", "original_inv_freq", "cos_cached", "sin_cached"};
  return std::ranges::find(names, tensor.substr(tensor.find_last_of('.') + 1)) != std::end(names);
}

void order_places(const TensorNames& names, std::span<float> rows, std::size_t head_size, std::size_t columns) {
  const std::vector<std::size_t> from = sources(names, head_size);
  if (std::ranges::is_sorted(from)) {
    return;
  }
  std::vector<float> head(head_size * columns);
  for (std::size_t begin = 0; begin < rows.size(); begin += head.size()) {
    const std::span<float> target = rows.subspan(begin, head.size());
    std::ranges::copy(target, head.begin());
    for (std::size_t row = 0; row < head_size; ++row) {
      std::copy_n(head.begin() + static_cast<std::ptrdiff_t>(from[row] * columns), columns,
                  target.begin() + static_cast<std::ptrdiff_t>(row * columns));
    }
  }
}

}  // namespace tessera
