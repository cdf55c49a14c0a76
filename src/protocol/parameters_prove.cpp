#include <tessera/protocol/witness.hpp>

namespace tessera {
namespace {

/// Copies a row-major unpadded tensor into the chunks held here; padding stays zero.
void fill_chunks(std::span<const std::int16_t> source, ChunkedTensor<std::int16_t>& tensor) {
  const auto& dimensions = tensor.shape().dimensions();
  const std::size_t last = dimensions.size() - 1;
  for (const std::size_t chunk : tensor.held()) {
    const std::span<std::int16_t> values = tensor.chunk(chunk);
    const std::size_t row_length = dimensions[last].chunk();
    const std::size_t first = tensor.shape().coordinate(chunk, last) << dimensions[last].log_chunk;
    const std::size_t count = std::min(row_length, dimensions[last].length - first);
    for (std::size_t row = 0; row < values.size() / row_length; ++row) {
      std::size_t place = 0;
      std::size_t rest = row;
      std::size_t stride = dimensions[last].length;
      bool inside = true;
      for (std::size_t j = last; j-- > 0;) {
        const std::size_t index =
            (tensor.shape().coordinate(chunk, j) << dimensions[j].log_chunk) + (rest & (dimensions[j].chunk() - 1));
        rest >>= dimensions[j].log_chunk;
        inside = inside && index < dimensions[j].length;
        place += index * stride;
        stride *= dimensions[j].length;
      }
      if (inside) {
        std::copy_n(source.data() + place + first, count, values.data() + row * row_length);
      }
    }
  }
}

}  // namespace

ParameterTensors ParameterTensors::of(const ModelShape& shape, const Parameters& p, int rank, int ranks) {
  const std::vector<Shape> shapes = parameter_shapes(shape);
  std::vector<const SparseVector<std::int16_t>*> sources(parameter_count);
  sources[embedding] = &p.embedding;
  sources[position] = &p.position;
  sources[wq] = &p.wq;
  sources[wk] = &p.wk;
  sources[wv] = &p.wv;
  sources[wo] = &p.wo;
  sources[w1] = &p.w1;
  sources[w2] = &p.w2;
  sources[bq] = &p.bq;
  sources[bk] = &p.bk;
  sources[bv] = &p.bv;
  sources[bo] = &p.bo;
  sources[b1] = &p.b1;
  sources[b2] = &p.b2;
  sources[gamma1] = &p.gamma1;
  sources[beta1] = &p.beta1;
  sources[gamma2] = &p.gamma2;
  sources[beta2] = &p.beta2;
  sources[gammaf] = &p.gammaf;
  sources[betaf] = &p.betaf;
  ParameterTensors result;
  for (std::size_t id = 0; id < parameter_count; ++id) {
    const std::size_t dimensions = shapes[id].dimensions().size();
    Ownership ownership;
    if (id == embedding || id == position) {
      ownership.dimension = 0;
    } else if (dimensions == 3) {
      ownership.dimension = 1;  // output features or heads
    }
    result.tensors.emplace_back(shapes[id], ownership, rank, ranks);
    fill_chunks(*sources[id], result.tensors.back());
  }
  return result;
}

std::vector<IntegerTensor> ParameterTensors::views() const {
  std::vector<IntegerTensor> views;
  for (const auto& tensor : tensors) {
    views.emplace_back(&tensor);
  }
  return views;
}

}  // namespace tessera
