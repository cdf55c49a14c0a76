#include <algorithm>
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// values[inner indices of dimensions from `first` on] = table[base + sum_j index_j * table_stride[j]].
void spread(const std::vector<E>& table, const Shape& shape, const std::vector<std::size_t>& table_stride,
            std::size_t first, std::size_t base, std::span<E> values) {
  const auto rest = table_stride.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::all_of(rest, table_stride.end(), [](std::size_t stride) { return stride == 0; })) {
    std::ranges::fill(values, table[base]);
    return;
  }
  if (first + 1 == table_stride.size()) {  // the last dimension, kept: stride 1
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(base), values.size(), values.begin());
    return;
  }
  const std::size_t count = shape.dimensions()[first].chunk();
  const std::size_t size = values.size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    spread(table, shape, table_stride, first + 1, base + i * table_stride[first], values.subspan(i * size, size));
  }
}

/// out[x] = scale * prod_j table_j[x_j] over all inner indices x of a chunk, tables already cut to the chunk.
void add_outer_product(const std::vector<std::span<const E>>& tables, E scale, std::span<E> out) {
  std::vector<E> product{scale};
  for (std::size_t j = 0; j + 1 < tables.size(); ++j) {
    std::vector<E> next;
    next.reserve(product.size() * tables[j].size());
    for (const E& left : product) {
      for (const E& right : tables[j]) {
        next.push_back(left * right);
      }
    }
    product = std::move(next);
  }
  const std::span<const E> last = tables.back();
  std::size_t place = 0;
  for (const E& left : product) {
    for (const E& right : last) {
      out[place++] += left * right;
    }
  }
}

}  // namespace

void ProverContext::parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight, E value) {
  transcript.send(label, value);
  ledger.parameters.push_back({tensor, std::move(weight), value});
}

void ProverContext::committed(std::string_view label, TensorId tensor, std::vector<Factor> weight, E value) {
  transcript.send(label, value);
  ledger.witness.push_back({tensor, std::move(weight), value});
}

E ProverContext::parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight) {
  const E value = weighted_sum(witness.parameters[tensor], plan.parameter_layout.tensors()[tensor], weight, comm);
  parameter(label, tensor, std::move(weight), value);
  return value;
}

E ProverContext::committed(std::string_view label, TensorId tensor, std::vector<Factor> weight) {
  const E value = weighted_sum(witness.tensors[tensor], plan.witness_shapes[tensor], weight, comm);
  committed(label, tensor, std::move(weight), value);
  return value;
}

ChunkedFactor tensor_factor(const IntegerTensor& tensor) {
  ChunkedFactor factor;
  factor.fill = [tensor](std::size_t chunk, std::span<E> values) {
    std::visit(
        [&](const auto* integers) {
          const auto source = integers->chunk(chunk);
          for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = E::from_signed(source[i]);
          }
        },
        tensor);
  };
  return factor;
}

ChunkedFactor weight_factor(const Shape& shape, const std::vector<ScaledWeight>& terms) {
  std::vector<E> scales;
  std::vector<std::vector<std::vector<E>>> tables;  // per term and dimension
  for (const ScaledWeight& term : terms) {
    scales.push_back(term.scale);
    auto& term_tables = tables.emplace_back();
    for (const Factor& weight : term.weight) {
      term_tables.push_back(weight.table());
    }
  }
  ChunkedFactor factor;
  factor.fill = [shape, scales, tables](std::size_t chunk, std::span<E> values) {
    std::ranges::fill(values, E::zero());
    for (std::size_t i = 0; i < tables.size(); ++i) {
      std::vector<std::span<const E>> slices;
      for (std::size_t j = 0; j < tables[i].size(); ++j) {
        const Dimension& dimension = shape.dimensions()[j];
        slices.push_back(std::span<const E>(tables[i][j])
                             .subspan(shape.coordinate(chunk, j) << dimension.log_chunk, dimension.chunk()));
      }
      add_outer_product(slices, scales[i], values);
    }
  };
  factor.outer = [shape, scales, tables](std::span<const E> inner_point) {
    std::vector<E> result(std::size_t{1} << shape.outer_bits());
    for (std::size_t i = 0; i < tables.size(); ++i) {
      std::vector<std::vector<E>> bound;  // per dimension: the inner variables bound
      std::size_t at = 0;
      for (std::size_t j = 0; j < tables[i].size(); ++j) {
        const Dimension& dimension = shape.dimensions()[j];
        auto& outer = bound.emplace_back();
        for (std::size_t c = 0; c < std::size_t{1} << dimension.outer_bits(); ++c) {
          outer.push_back(
              evaluate(std::span<const E>(tables[i][j]).subspan(c << dimension.log_chunk, dimension.chunk()),
                       inner_point.subspan(at, dimension.log_chunk)));
        }
        at += dimension.log_chunk;
      }
      add_outer_product({bound.begin(), bound.end()}, scales[i], result);
    }
    return result;
  };
  return factor;
}

ChunkedFactor broadcast_factor(const Shape& shape, const std::vector<E>& table, const std::vector<bool>& kept) {
  const auto& dimensions = shape.dimensions();
  std::vector<std::size_t> table_stride(dimensions.size(), 0);
  std::size_t size = 1;
  for (std::size_t j = dimensions.size(); j-- > 0;) {
    if (kept[j]) {
      table_stride[j] = size;
      size <<= dimensions[j].bits();
    }
  }
  assert(size == table.size());
  ChunkedFactor factor;
  factor.fill = [shape, table, table_stride](std::size_t chunk, std::span<E> values) {
    std::size_t base = 0;
    for (std::size_t j = 0; j < table_stride.size(); ++j) {
      base += (shape.coordinate(chunk, j) << shape.dimensions()[j].log_chunk) * table_stride[j];
    }
    spread(table, shape, table_stride, 0, base, values);
  };
  factor.outer = [shape, table, table_stride, kept](std::span<const E> inner_point) {
    // bind the kept dimensions' inner variables one dimension after the other, then spread over the outer cube
    std::vector<E> bound = table;
    std::size_t at = inner_point.size();
    std::size_t below = 1;  // product of the outer sizes of the kept dimensions already done
    for (std::size_t j = shape.dimensions().size(); j-- > 0;) {
      const Dimension& dimension = shape.dimensions()[j];
      at -= dimension.log_chunk;
      if (!kept[j]) {
        continue;
      }
      const std::vector<E> weights = eq_table(inner_point.subspan(at, dimension.log_chunk));
      const std::size_t outer = std::size_t{1} << dimension.outer_bits();
      const std::size_t rows = bound.size() / (below << dimension.bits());
      std::vector<E> next(rows * outer * below);
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t c = 0; c < outer; ++c) {
          for (std::size_t i = 0; i < weights.size(); ++i) {
            for (std::size_t b = 0; b < below; ++b) {
              next[(row * outer + c) * below + b] +=
                  weights[i] * bound[((row * outer + c) * weights.size() + i) * below + b];
            }
          }
        }
      }
      bound = std::move(next);
      below *= outer;
    }
    std::vector<E> result(std::size_t{1} << shape.outer_bits());
    for (std::size_t x = 0; x < result.size(); ++x) {
      std::size_t place = 0;
      std::size_t stride = 1;
      std::size_t rest = x;
      for (std::size_t j = shape.dimensions().size(); j-- > 0;) {
        const std::size_t outer = std::size_t{1} << shape.dimensions()[j].outer_bits();
        if (kept[j]) {
          place += (rest & (outer - 1)) * stride;
          stride *= outer;
        }
        rest /= outer;
      }
      result[x] = bound[place];
    }
    return result;
  };
  return factor;
}

}  // namespace tessera
