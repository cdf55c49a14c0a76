#include "base/shares.hpp"
#include "field/integer_products.hpp"
#include "tensor/contract.hpp"

#include <algorithm>
#include <cassert>

namespace tessera {
namespace {

/// Places of a chunk's rows (all inner indices but the last) in weights and result.
class Contraction {
 public:
  Contraction(const Shape& shape, const std::vector<Axis>& axes) : shape_(shape), axes_(axes), stride_(axes.size(), 0) {
    assert(axes.size() == shape.dimensions().size());
    for (std::size_t j = axes.size(); j-- > 0;) {
      if (!axes[j]) {
        stride_[j] = result_size_;
        result_size_ <<= shape.dimensions()[j].bits();
      }
    }
    for (std::size_t j = 0; j + 1 < axes.size(); ++j) {
      append_places(j);
    }
  }

  [[nodiscard]] std::size_t result_size() const { return result_size_; }

  template <class T>
  void add_chunk(const ChunkedTensor<T>& tensor, std::size_t chunk, std::vector<E>& result) const {
    const auto& dimensions = shape_.dimensions();
    const std::size_t last = dimensions.size() - 1;
    static thread_local std::vector<E> row_weights, dots;
    const std::size_t base = place_weights(chunk, row_weights);
    const std::span<const T> values = tensor.chunk(chunk);
    const std::size_t row_length = dimensions[last].chunk();
    const std::size_t first_of_last = shape_.coordinate(chunk, last) << dimensions[last].log_chunk;
    const std::span<const E> weights = row_weights;
    const std::size_t rows = weights.size();
    if (axes_[last]) {
      dots.assign(rows, E::zero());
      const std::span<const E> last_weights = std::span<const E>(*axes_[last]).subspan(first_of_last, row_length);
      if (row_length <= max_dot) {
        dot_integer_rows(last_weights, values, std::span(dots));
      } else {
        // the kernel sums a bounded number of terms before it reduces
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t first = 0; first < row_length; first += max_dot) {
            dot_integer_rows(last_weights.subspan(first, max_dot), values.subspan(row * row_length + first, max_dot),
                             std::span(dots).subspan(row, 1));
          }
        }
      }
      for (std::size_t row = 0; row < rows; ++row) {
        result[base + places_[row]] += weights[row] * dots[row];
      }
      return;
    }
    // rows that end in the same place follow each other where the innermost kept dimension is the last one
    for (std::size_t first = 0; first < rows;) {
      std::size_t end = first + 1;
      while (end < rows && places_[end] == places_[first]) {
        ++end;
      }
      combine_integer_rows(weights.subspan(first, end - first),
                           values.subspan(first * row_length, (end - first) * row_length),
                           std::span(result).subspan(base + places_[first] + first_of_last, row_length));
      first = end;
    }
  }

 private:
  /// Rows by their indices up to dimension j - 1 -> by those up to j.
  void append_places(std::size_t j) {
    std::vector<std::size_t> all;
    for (const std::size_t place : places_) {
      for (std::size_t index = 0; index < shape_.dimensions()[j].chunk(); ++index) {
        all.push_back(place + index * stride_[j]);
      }
    }
    places_ = std::move(all);
  }

  /// The weights of a chunk's rows; result: its first row's place.
  [[nodiscard]] std::size_t place_weights(std::size_t chunk, std::vector<E>& weights) const {
    std::size_t place = 0;
    E scale = E::one();  // of dimensions of which a chunk has one index
    weights.assign(1, E::one());
    for (std::size_t j = 0; j + 1 < axes_.size(); ++j) {
      const Dimension& dimension = shape_.dimensions()[j];
      const std::size_t base = shape_.coordinate(chunk, j) << dimension.log_chunk;
      place += base * stride_[j];
      if (dimension.log_chunk == 0) {
        scale = axes_[j] ? scale * (*axes_[j])[base] : scale;
      } else {
        append_weights(axes_[j] ? std::span<const E>(*axes_[j]).subspan(base, dimension.chunk()) : std::span<const E>(),
                       dimension.chunk(), weights);
      }
    }
    if (scale != E::one()) {
      for (E& weight : weights) {
        weight *= scale;
      }
    }
    return place;
  }

  /// Each weight times all of `factors`, or `count` times if there are none.
  static void append_weights(std::span<const E> factors, std::size_t count, std::vector<E>& weights) {
    const bool first = weights.size() == 1;  // nothing to multiply
    weights.resize(weights.size() * count);
    for (std::size_t row = weights.size() / count; row-- > 0;) {
      const E weight = weights[row];
      for (std::size_t i = 0; i < count; ++i) {
        weights[row * count + i] = factors.empty() ? weight : first ? factors[i] : weight * factors[i];
      }
    }
  }

  static constexpr std::size_t max_dot = 4096;  // a power of two, as all row lengths are

  const Shape& shape_;
  const std::vector<Axis>& axes_;
  std::vector<std::size_t> stride_;     // of kept dimensions in the result
  std::vector<std::size_t> places_{0};  // of a chunk's rows, from its first one's on
  std::size_t result_size_ = 1;
};

}  // namespace

namespace {

/// The sum over all ranks of add(values, chunk, partial) for every chunk, in tables of `size`: what ranks hold
/// besides others counts once.
template <class Add>
std::vector<E> sum_of_chunks(const IntegerTensor& tensor, std::size_t size, Communicator& comm, const Add& add) {
  std::vector<E> result(size);
  std::visit(
      [&](const auto* values) {
        std::vector<std::size_t> mine;
        std::ranges::copy_if(values->held(), std::back_inserter(mine), [&](std::size_t chunk) {
          return values->ownership().owner(values->shape(), chunk, comm.size()) == comm.rank();
        });
        if (mine.empty()) {
          return;
        }
#pragma omp parallel
        {
          std::vector<E> partial(result.size());
#pragma omp for schedule(dynamic, share_of(mine.size()))
          for (std::size_t i = 0; i < mine.size(); ++i) {
            add(*values, mine[i], partial);
          }
#pragma omp critical
          for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] += partial[i];
          }
        }
      },
      tensor);
  comm.all_reduce_sum(result);
  return result;
}

}  // namespace

std::vector<E> contract(const IntegerTensor& tensor, const Shape& shape, const std::vector<Axis>& axes,
                        Communicator& comm) {
  const Contraction contraction(shape, axes);
  return sum_of_chunks(
      tensor, contraction.result_size(), comm, [&](const auto& values, std::size_t chunk, std::vector<E>& partial) {
        assert(values.shape().chunk_count() == shape.chunk_count() && values.shape().bits() == shape.bits());
        contraction.add_chunk(values, chunk, partial);
      });
}

std::vector<E> contract_features(const IntegerTensor& tensor, std::span<const E> weights, Communicator& comm) {
  const Shape& shape = std::visit([](const auto* values) -> const Shape& { return values->shape(); }, tensor);
  const std::vector<Dimension>& dimensions = shape.dimensions();
  const std::size_t feature = dimensions.size() - 2;
  const std::size_t features = dimensions[feature].chunk();
  const std::size_t tokens = dimensions.back().chunk();
  assert(shape.inner_bits() == dimensions[feature].log_chunk + dimensions.back().log_chunk);  // single entries before
  const std::size_t before = weights.size() >> dimensions[feature].bits();
  return sum_of_chunks(
      tensor, before << dimensions.back().bits(), comm,
      [&](const auto& values, std::size_t chunk, std::vector<E>& partial) {
        std::size_t index = 0;  // of what stands before features
        for (std::size_t j = 0; j < feature; ++j) {
          index = (index << dimensions[j].bits()) + shape.coordinate(chunk, j);
        }
        using T = typename std::remove_cvref_t<decltype(values.chunk(chunk))>::value_type;
        combine_integer_rows(
            weights.subspan((index << dimensions[feature].bits()) + shape.coordinate(chunk, feature) * features,
                            features),
            std::span<const T>(values.chunk(chunk)),
            std::span(partial).subspan(
                (index << dimensions.back().bits()) + shape.coordinate(chunk, feature + 1) * tokens, tokens));
      });
}

std::vector<E> repeat_each(std::span<const E> table, std::size_t times) {
  std::vector<E> result;
  result.reserve(table.size() * times);
  for (const E& value : table) {
    result.insert(result.end(), times, value);
  }
  return result;
}

E weighted_sum(const IntegerTensor& tensor, const Shape& shape, std::span<const Factor> weight, Communicator& comm) {
  std::vector<Axis> axes;
  for (const Factor& factor : weight) {
    axes.emplace_back(factor.table());
  }
  return contract(tensor, shape, axes, comm).front();
}

}  // namespace tessera
