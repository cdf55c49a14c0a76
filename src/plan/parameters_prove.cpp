#include "plan/witness.hpp"

namespace tessera {
namespace {

/// Copies a row-major unpadded tensor into the chunks held here; padding stays zero.
void fill_chunks(std::span<const std::int16_t> source, ChunkedTensor<std::int16_t>& tensor) {
  const auto& dimensions = tensor.shape().dimensions();
  const std::size_t last = dimensions.size() - 1;
  const std::vector<std::size_t>& held = tensor.held();
#pragma omp parallel for schedule(dynamic)
  for (std::size_t h = 0; h < held.size(); ++h) {
    const std::size_t chunk = held[h];
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

/// Pointers to the tensors, by ParameterId.
template <class P>
auto by_id(P& p) {
  std::vector<decltype(&p.embedding)> sources(parameter_count);
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
  return sources;
}

ChunkedTensor<std::int16_t> chunked(const ModelShape& model, std::size_t id, std::span<const std::int16_t> source,
                                    int rank, int ranks) {
  const Shape shape = parameter_shapes(model)[id];
  Ownership ownership;
  if (id == embedding || id == position) {
    ownership.dimension = 0;
  } else if (shape.dimensions().size() == 3) {
    ownership.dimension = 1;  // output features or heads
  }
  ChunkedTensor<std::int16_t> tensor(shape, ownership, rank, ranks);
  fill_chunks(source, tensor);
  return tensor;
}

}  // namespace

ParameterTensors ParameterTensors::of(const ModelShape& shape, const Parameters& p, int rank, int ranks) {
  ParameterTensors result;
  const auto sources = by_id(p);
  for (std::size_t id = 0; id < parameter_count; ++id) {
    result.tensors.push_back(chunked(shape, id, *sources[id], rank, ranks));
  }
  return result;
}

ParameterTensors ParameterTensors::of(const ModelShape& shape, Parameters&& p, int rank, int ranks) {
  ParameterTensors result;
  const auto sources = by_id(p);
  for (std::size_t id = 0; id < parameter_count; ++id) {
    result.tensors.push_back(chunked(shape, id, *sources[id], rank, ranks));
    *sources[id] = SparseVector<std::int16_t>();  // {} would keep the memory
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
