#include "base/shares.hpp"
#include "field/integer_products.hpp"
#include "field/scale_kernels.hpp"
#include "tensor/contract.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace tessera {
namespace {

/// The length of the rows that are multiplied at once: a power of two, as all row lengths are.
constexpr std::size_t max_dot = 4096;
/// Values of neighbouring chunks that are worked on together.
constexpr std::size_t longest_run = std::size_t{1} << 14;

/// Neighbouring chunks of a tensor that differ in the last dimension's number alone: their values, one chunk after the
/// other.
template <class T>
struct Run {
  std::size_t first, count;
  std::span<const T> values;

  [[nodiscard]] std::span<const T> chunk(std::size_t i) const {
    return values.subspan(i * (values.size() / count), values.size() / count);
  }
};

/// Sums of a tensor's runs.
template <class T>
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
    if (axes.back()) {
      dots_.emplace(*axes.back(), std::min(shape.dimensions().back().chunk(), max_dot));
    }
  }

  [[nodiscard]] std::size_t result_size() const { return result_size_; }

  /// Whether no two runs add to the same place.
  [[nodiscard]] bool apart() const {
    for (std::size_t j = 0; j < axes_.size(); ++j) {
      if (axes_[j] && shape_.dimensions()[j].chunk_count() > 1) {
        return false;
      }
    }
    return true;
  }

  /// A thread's weights of the rows of the run before.
  class Scratch {
    friend class Contraction;
    std::vector<E> weights, scaled, sums;
    std::optional<std::size_t> rows;    // which the weights are of
    IntegerCombination<T> combination;  // of the rows if all end in the same place
  };

  void add_run(const Run<T>& run, std::vector<E>& result, Scratch& scratch) const {
    const auto [base, scale] = place_weights(run.first, scratch);
    const Dimension& last = shape_.dimensions().back();
    const std::size_t number = shape_.coordinate(run.first, axes_.size() - 1);
    if (axes_.back()) {
      add_dots(run, number, scale, std::span(result).subspan(base), scratch);
      return;
    }
    const std::size_t length = last.chunk();
    const std::span<E> to = std::span(result).subspan(base + (number << last.log_chunk));
    if (ends_together() && (scale == E::one() || 2 * places_.size() >= length)) {  // the sums are few
      add_sums(run, scale, to.first(run.count * length), scratch);
      return;
    }
    for (std::size_t i = 0; i < run.count; ++i) {
      add_rows(run.chunk(i), scale, to.subspan(i * length), scratch);
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

  /// A row's sum over the run with the weights of the last dimension, of which the first chunk is `number`.
  void add_dots(const Run<T>& run, std::size_t number, E scale, std::span<E> result, Scratch& scratch) const {
    const std::size_t rows = places_.size();
    const std::size_t width = shape_.dimensions().back().chunk();
    if (width <= max_dot && !weighed_ && scale == E::one() && places_.back() == rows - 1) {
      return dots_->add(number, run.values, result.first(rows));
    }
    std::vector<E>& sums = scratch.sums;
    sums.assign(rows, E::zero());
    if (width <= max_dot) {
      dots_->add(number, run.values, sums);
    } else {
      // the kernel sums a bounded number of terms before it reduces
      for (std::size_t part = 0; part < run.values.size() / max_dot; ++part) {
        const std::size_t in_row = width / max_dot, row = part / in_row;
        dots_->add((number + row / rows) * in_row + part % in_row, run.values.subspan(part * max_dot, max_dot),
                   std::span(sums).subspan(row % rows, 1));
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      result[places_[row]] += weighed_ ? scale * scratch.weights[row] * sums[row] : scale * sums[row];
    }
  }

  /// Rows that end in the same place follow each other where the innermost kept dimension is the last one.
  void add_rows(std::span<const T> values, E scale, std::span<E> result, Scratch& scratch) const {
    const std::size_t length = values.size() / places_.size();
    for (std::size_t first = 0; first < places_.size();) {
      std::size_t end = first + 1;
      while (end < places_.size() && places_[end] == places_[first]) {
        ++end;
      }
      scratch.scaled.assign(scratch.weights.begin() + static_cast<std::ptrdiff_t>(first),
                            scratch.weights.begin() + static_cast<std::ptrdiff_t>(end));
      for (E& weight : scratch.scaled) {
        weight *= scale;
      }
      combine_integer_rows(std::span<const E>(scratch.scaled), values.subspan(first * length, (end - first) * length),
                           result.subspan(places_[first], length));
      first = end;
    }
  }

  /// Adds a run's rows if all of a chunk's end in the same place: the sums of its chunks stand side by side.
  void add_sums(const Run<T>& run, E scale, std::span<E> result, Scratch& scratch) const {
    const std::size_t length = result.size() / run.count;
    const bool scaled = scale != E::one();
    if (scaled) {
      scratch.sums.assign(result.size(), E::zero());
    }
    const std::span<E> sums = scaled ? std::span(scratch.sums) : result;
    for (std::size_t i = 0; i < run.count; ++i) {
      scratch.combination.add(run.chunk(i), sums.subspan(i * length, length));
    }
    if (scaled) {
      add_scaled(scale, sums.data(), sums.size(), result.data());
    }
  }

  [[nodiscard]] bool ends_together() const { return places_.front() == places_.back(); }

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
      if (!axes_.back() && ends_together()) {
        scratch.combination.prepare(scratch.weights, shape_.dimensions().back().chunk());
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

  const Shape& shape_;
  const std::vector<Axis>& axes_;
  std::optional<IntegerDots<T>> dots_;  // the last dimension is summed
  std::vector<std::size_t> stride_;     // of kept dimensions in the result
  std::vector<std::size_t> places_{0};  // of a chunk's rows, from its first one's on
  std::size_t result_size_ = 1;
  bool weighed_ = false;  // whether rows of a chunk have different weights
};

/// The runs of the chunks that are held and owned here.
template <class T>
std::vector<Run<T>> own_runs(const ChunkedTensor<T>& tensor, const Shape& shape, const Communicator& comm) {
  const std::size_t most = std::max<std::size_t>(
      1, std::min(longest_run >> shape.inner_bits(), max_dot >> shape.dimensions().back().log_chunk));
  std::vector<Run<T>> runs;
  for (const std::size_t chunk : tensor.held()) {
    if (tensor.ownership().owner(tensor.shape(), chunk, comm.size()) != comm.rank()) {
      continue;
    }
    const std::span<const T> values = tensor.chunk(chunk);
    if (!runs.empty()) {
      Run<T>& run = runs.back();
      if (run.count < most && chunk == run.first + run.count &&
          run.values.data() + run.values.size() == values.data() && shape.goes_on(chunk)) {
        ++run.count;
        run.values = {run.values.data(), run.values.size() + values.size()};
        continue;
      }
    }
    runs.push_back({chunk, 1, values});
  }
  return runs;
}

/// The sum over all ranks of add(run, sums, scratch) for every run, in tables of `size`: what ranks hold besides others
/// counts once. `apart`: no two runs add to the same place, so all threads may work on one table.
template <class Scratch, class T, class Add>
std::vector<E> sum_of_runs(const std::vector<Run<T>>& runs, std::size_t size, bool apart, Communicator& comm,
                           const Add& add) {
  std::vector<E> result(size);
  if (!runs.empty()) {
#pragma omp parallel
    {
      std::vector<E> partial(apart ? 0 : size);
      Scratch scratch;
#pragma omp for schedule(dynamic, share_of(runs.size()))
      for (std::size_t i = 0; i < runs.size(); ++i) {
        add(runs[i], apart ? result : partial, scratch);
      }
#pragma omp critical
      for (std::size_t i = 0; i < partial.size(); ++i) {
        result[i] += partial[i];
      }
    }
  }
  comm.all_reduce_sum(result);
  return result;
}

template <class T>
std::vector<E> contract_features(const ChunkedTensor<T>& tensor, std::span<const E> weights, Communicator& comm) {
  const Shape& shape = tensor.shape();
  const std::vector<Dimension>& dimensions = shape.dimensions();
  const std::size_t feature = dimensions.size() - 2;
  const std::size_t features = dimensions[feature].chunk();
  const std::size_t tokens = dimensions.back().chunk();
  assert(shape.inner_bits() == dimensions[feature].log_chunk + dimensions.back().log_chunk);  // single entries before
  const std::size_t before = weights.size() >> dimensions[feature].bits();
  return sum_of_runs<IntegerCombination<T>>(
      own_runs(tensor, shape, comm), before << dimensions.back().bits(), dimensions[feature].chunk_count() == 1, comm,
      [&](const Run<T>& run, std::vector<E>& sums, IntegerCombination<T>& combination) {
        std::size_t index = 0;  // of what stands before features
        for (std::size_t j = 0; j < feature; ++j) {
          index = (index << dimensions[j].bits()) + shape.coordinate(run.first, j);
        }
        combination.prepare(
            weights.subspan((index << dimensions[feature].bits()) + shape.coordinate(run.first, feature) * features,
                            features),
            tokens);
        const std::size_t first =
            (index << dimensions.back().bits()) + shape.coordinate(run.first, feature + 1) * tokens;
        for (std::size_t i = 0; i < run.count; ++i) {
          combination.add(run.chunk(i), std::span(sums).subspan(first + i * tokens, tokens));
        }
      });
}

}  // namespace

std::vector<E> contract(const IntegerTensor& tensor, const Shape& shape, const std::vector<Axis>& axes,
                        Communicator& comm) {
  return std::visit(
      [&]<class T>(const ChunkedTensor<T>* values) {
        assert(values->shape().chunk_count() == shape.chunk_count() && values->shape().bits() == shape.bits());
        const Contraction<T> contraction(shape, axes);
        using Scratch = typename Contraction<T>::Scratch;
        return sum_of_runs<Scratch>(own_runs(*values, shape, comm), contraction.result_size(), contraction.apart(),
                                    comm, [&](const Run<T>& run, std::vector<E>& sums, Scratch& scratch) {
                                      contraction.add_run(run, sums, scratch);
                                    });
      },
      tensor);
}

std::vector<E> contract_features(const IntegerTensor& tensor, std::span<const E> weights, Communicator& comm) {
  return std::visit([&](const auto* values) { return contract_features(*values, weights, comm); }, tensor);
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
