#include "base/shares.hpp"
#include "field/integer_products.hpp"
#include "tensor/contract.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

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
      weighed_ = weighed_ || (axes[j] && shape.dimensions()[j].log_chunk != 0);
    }
  }

  [[nodiscard]] std::size_t result_size() const { return result_size_; }

  /// Whether no two chunks add to the same place.
  [[nodiscard]] bool apart() const {
    for (std::size_t j = 0; j < axes_.size(); ++j) {
      if (axes_[j] && shape_.dimensions()[j].chunk_count() > 1) {
        return false;
      }
    }
    return true;
  }

  /// A thread's weights of the rows of the chunk before: neighbours differ in their tokens alone.
  class Scratch {
    friend class Contraction;
    std::vector<E> weights, scaled, sums;
    std::optional<std::size_t> rows;  // which the weights are of
  };

  template <class T>
  void add_chunk(const ChunkedTensor<T>& tensor, std::size_t chunk, std::vector<E>& result, Scratch& scratch) const {
    const std::size_t last = axes_.size() - 1;
    const Dimension& dimension = shape_.dimensions()[last];
    const std::size_t row_length = dimension.chunk();
    const std::size_t first_of_last = shape_.coordinate(chunk, last) << dimension.log_chunk;
    const auto [base, scale] = place_weights(chunk, scratch);
    const std::span<const T> values = tensor.chunk(chunk);
    if (axes_[last]) {
      add_dots(values, std::span<const E>(*axes_[last]).subspan(first_of_last, row_length), scale,
               std::span(result).subspan(base), scratch);
    } else {
      add_rows(values, row_length, scale, std::span(result).subspan(base + first_of_last), scratch);
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

  static std::span<const E> scaled(std::span<const E> weights, E scale, Scratch& scratch) {
    if (scale == E::one()) {
      return weights;
    }
    scratch.scaled.assign(weights.begin(), weights.end());
    for (E& weight : scratch.scaled) {
      weight *= scale;
    }
    return scratch.scaled;
  }

  /// A row's sum with the weights of the last dimension.
  template <class T>
  void add_dots(std::span<const T> values, std::span<const E> weights, E scale, std::span<E> result,
                Scratch& scratch) const {
    const std::size_t rows = places_.size();
    weights = scaled(weights, scale, scratch);
    if (weights.size() <= max_dot && !weighed_ && places_.back() == rows - 1) {
      return dot_integer_rows(weights, values, result.first(rows));
    }
    std::vector<E>& dots = scratch.sums;
    dots.assign(rows, E::zero());
    if (weights.size() <= max_dot) {
      dot_integer_rows(weights, values, std::span(dots));
    } else {
      // the kernel sums a bounded number of terms before it reduces
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t first = 0; first < weights.size(); first += max_dot) {
          dot_integer_rows(weights.subspan(first, max_dot), values.subspan(row * weights.size() + first, max_dot),
                           std::span(dots).subspan(row, 1));
        }
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      result[places_[row]] += weighed_ ? scratch.weights[row] * dots[row] : dots[row];
    }
  }

  /// Rows that end in the same place follow each other where the innermost kept dimension is the last one.
  template <class T>
  void add_rows(std::span<const T> values, std::size_t row_length, E scale, std::span<E> result,
                Scratch& scratch) const {
    for (std::size_t first = 0; first < places_.size();) {
      std::size_t end = first + 1;
      while (end < places_.size() && places_[end] == places_[first]) {
        ++end;
      }
      const std::span<const E> weights = std::span<const E>(scratch.weights).subspan(first, end - first);
      const std::span<const T> some = values.subspan(first * row_length, (end - first) * row_length);
      const std::span<E> to = result.subspan(places_[first], row_length);
      if (scale != E::one() && weights.size() > row_length) {  // the sums are fewer than the weights
        scratch.sums.assign(row_length, E::zero());
        combine_integer_rows(weights, some, std::span(scratch.sums));
        for (std::size_t i = 0; i < row_length; ++i) {
          to[i] += scale * scratch.sums[i];
        }
      } else {
        combine_integer_rows(scaled(weights, scale, scratch), some, to);
      }
      first = end;
    }
  }

  /// A chunk's first row's place, and the weight of those dimensions of which it has one index; the other weights of
  /// its rows into `scratch`.
  [[nodiscard]] std::pair<std::size_t, E> place_weights(std::size_t chunk, Scratch& scratch) const {
    std::size_t place = 0, rows = 0;
    E scale = E::one();
    for (std::size_t j = 0; j + 1 < axes_.size(); ++j) {
      const Dimension& dimension = shape_.dimensions()[j];
      const std::size_t coordinate = shape_.coordinate(chunk, j);
      place += (coordinate << dimension.log_chunk) * stride_[j];
      if (dimension.log_chunk != 0) {
        rows = (rows << dimension.outer_bits()) + coordinate;
      } else if (axes_[j]) {
        scale *= (*axes_[j])[coordinate];
      }
    }
    if (scratch.rows != rows) {
      scratch.rows = rows;
      scratch.weights.assign(1, E::one());
      for (std::size_t j = 0; j + 1 < axes_.size(); ++j) {
        const Dimension& dimension = shape_.dimensions()[j];
        if (dimension.log_chunk != 0) {
          const std::size_t base = shape_.coordinate(chunk, j) << dimension.log_chunk;
          append_weights(
              axes_[j] ? std::span<const E>(*axes_[j]).subspan(base, dimension.chunk()) : std::span<const E>(),
              dimension.chunk(), scratch.weights);
        }
      }
    }
    return {place, scale};
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
  bool weighed_ = false;  // whether rows of a chunk have different weights
};

}  // namespace

namespace {

/// The sum over all ranks of add(values, chunk, sums, scratch) for every chunk, in tables of `size`: what ranks hold
/// besides others counts once. `apart`: no two chunks add to the same place, so all threads may work on one table.
template <class Scratch, class Add>
std::vector<E> sum_of_chunks(const IntegerTensor& tensor, std::size_t size, bool apart, Communicator& comm,
                             const Add& add) {
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
          std::vector<E> partial(apart ? 0 : size);
          Scratch scratch;
#pragma omp for schedule(dynamic, share_of(mine.size()))
          for (std::size_t i = 0; i < mine.size(); ++i) {
            add(*values, mine[i], apart ? result : partial, scratch);
          }
#pragma omp critical
          for (std::size_t i = 0; i < partial.size(); ++i) {
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
  return sum_of_chunks<Contraction::Scratch>(
      tensor, contraction.result_size(), contraction.apart(), comm,
      [&](const auto& values, std::size_t chunk, std::vector<E>& sums, Contraction::Scratch& scratch) {
        assert(values.shape().chunk_count() == shape.chunk_count() && values.shape().bits() == shape.bits());
        contraction.add_chunk(values, chunk, sums, scratch);
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
  struct None {};
  return sum_of_chunks<None>(
      tensor, before << dimensions.back().bits(), dimensions[feature].chunk_count() == 1, comm,
      [&](const auto& values, std::size_t chunk, std::vector<E>& sums, None&) {
        std::size_t index = 0;  // of what stands before features
        for (std::size_t j = 0; j < feature; ++j) {
          index = (index << dimensions[j].bits()) + shape.coordinate(chunk, j);
        }
        using T = typename std::remove_cvref_t<decltype(values.chunk(chunk))>::value_type;
        combine_integer_rows(
            weights.subspan((index << dimensions[feature].bits()) + shape.coordinate(chunk, feature) * features,
                            features),
            std::span<const T>(values.chunk(chunk)),
            std::span(sums).subspan((index << dimensions.back().bits()) + shape.coordinate(chunk, feature + 1) * tokens,
                                    tokens));
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
