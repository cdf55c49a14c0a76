#include "lookup/column_evaluation.hpp"

#include <map>
#include <mutex>
#include <optional>

#include "base/shares.hpp"
#include "field/integer_products.hpp"

namespace tessera {
namespace {

/// Values of neighbouring chunks that are weighed at once.
constexpr std::size_t longest_run = std::size_t{1} << 12;

/// Dot products with weights, of which kernels get what they need the first time.
template <class T>
class LazyDots {
 public:
  const IntegerDots<T>& get(std::span<const E> weights) {
    std::call_once(once_, [&] { dots_.emplace(weights, std::min(weights.size(), longest_run)); });
    return *dots_;
  }

 private:
  std::once_flag once_;
  std::optional<IntegerDots<T>> dots_;
};

/// Weights of a chunk's values.
class ChunkWeights {
 public:
  explicit ChunkWeights(std::span<const E> point) : weights_(eq_table(point)) {}
  [[nodiscard]] std::size_t size() const { return weights_.size(); }
  /// Adds those of each of some chunks to its sum.
  void add(std::span<const std::uint16_t> values, std::span<E> sums) { add(unsigned_, values, sums); }
  void add(std::span<const std::int16_t> values, std::span<E> sums) { add(signed_, values, sums); }
  void add(std::span<const std::int32_t> values, std::span<E> sums) { add(wide_, values, sums); }

 private:
  template <class T>
  void add(LazyDots<T>& lazy, std::span<const T> values, std::span<E> sums) {
    const IntegerDots<T>& dots = lazy.get(weights_);
    if (size() <= longest_run) {
      return dots.add(0, values, sums);
    }
    const std::size_t parts = size() / longest_run;
    for (std::size_t part = 0; part < sums.size() * parts; ++part) {
      dots.add(part % parts, values.subspan(part * longest_run, longest_run), sums.subspan(part / parts, 1));
    }
  }

  std::vector<E> weights_;
  LazyDots<std::uint16_t> unsigned_;
  LazyDots<std::int16_t> signed_;
  LazyDots<std::int32_t> wide_;
};

/// Weighs a column's chunks, those that follow each other in memory at once.
class ColumnSum {
 public:
  ColumnSum(const Shape& shape, const EqIndices& outer, ChunkWeights& weights)
      : shape_(shape), outer_(outer), weights_(weights) {}

  template <class T>
  void add(std::size_t chunk, const T* values) {
    Run<T>& run = run_of(values);
    if (run.count == 0 || chunk != run.first + run.count || values != run.values + run.count * weights_.size()) {
      end(run);
      run = {values, chunk, 0};
    }
    ++run.count;
  }
  /// Adds a chunk whose values are all the same.
  void add_constant(std::size_t chunk, F value) { sum_ += outer_(shape_.outer_index(chunk)) * value; }
  /// Ends all runs: their memory is no longer read.
  void end() {
    end(unsigned_);
    end(signed_);
    end(wide_);
  }
  [[nodiscard]] E value() const { return sum_; }

 private:
  template <class T>
  struct Run {
    const T* values = nullptr;
    std::size_t first = 0, count = 0;
  };
  Run<std::uint16_t>& run_of(const std::uint16_t* /*values*/) { return unsigned_; }
  Run<std::int16_t>& run_of(const std::int16_t* /*values*/) { return signed_; }
  Run<std::int32_t>& run_of(const std::int32_t* /*values*/) { return wide_; }

  template <class T>
  void end(Run<T>& run) {
    if (run.count == 0) {
      return;
    }
    sums_.assign(run.count, E::zero());
    weights_.add(std::span(run.values, run.count * weights_.size()), sums_);
    for (std::size_t i = 0; i < run.count; ++i) {
      sum_ += outer_(shape_.outer_index(run.first + i)) * sums_[i];
    }
    run.count = 0;
  }

  const Shape& shape_;
  const EqIndices& outer_;
  ChunkWeights& weights_;
  Run<std::uint16_t> unsigned_;
  Run<std::int16_t> signed_;
  Run<std::int32_t> wide_;
  std::vector<E> sums_;
  E sum_;
};

/// Integers below 2^31.
const std::int32_t* as_signed(const std::uint32_t* values) { return reinterpret_cast<const std::int32_t*>(values); }
const std::int16_t* as_signed(const std::uint16_t* values) { return reinterpret_cast<const std::int16_t*>(values); }

/// Adds a chunk's a where it lies, if it can be weighed there.
bool add_in_place(ColumnSum& sum, std::size_t chunk, const LeafIntegers& leaves) {
  constexpr std::uint32_t half = 1U << 15;
  if (leaves.narrow != nullptr && static_cast<std::uint16_t>(leaves.added) == half) {
    sum.add(chunk, as_signed(leaves.narrow));  // a + 2^15 of a signed a
    sum.add_constant(chunk, F::from_unsigned(half));
    return true;
  }
  if (leaves.added != 0 || !leaves.has_a()) {
    return false;
  }
  if (leaves.narrow != nullptr) {
    sum.add(chunk, leaves.narrow);
  } else {
    sum.add(chunk, as_signed(leaves.wide));
  }
  return true;
}

/// Adds a chunk's b where it lies, if it does.
bool add_in_place_b(ColumnSum& sum, std::size_t chunk, const LeafIntegers& leaves) {
  if (leaves.narrow_b != nullptr) {
    sum.add(chunk, leaves.narrow_b);
  } else if (leaves.wide_b != nullptr) {
    sum.add(chunk, leaves.wide_b);
  }
  return leaves.has_b();
}

ColumnValues evaluate_column(const LookupInput& input, std::size_t column, const EqIndices& outer,
                             ChunkWeights& weights, const Communicator& comm) {
  const Shape& shape = input.structure.columns[column].shape;
  const LookupColumnData& data = input.columns[column];
  const bool pair = input.has_pairs(input.structure.columns[column].table);
  const std::size_t size = shape.chunk_size();
  const std::size_t together = std::max<std::size_t>(1, longest_run / size);
  const std::size_t runs = (shape.chunk_count() + together - 1) / together;
  ColumnValues values;
#pragma omp parallel
  {
    std::vector<std::uint32_t> a(together * size);
    std::vector<std::int32_t> b(pair ? together * size : 0);
    ColumnSum a_sum(shape, outer, weights), b_sum(shape, outer, weights);
#pragma omp for schedule(dynamic, share_of(runs)) nowait
    for (std::size_t run = 0; run < runs; ++run) {
      const std::size_t first = run * together;
      for (std::size_t chunk = first; chunk < std::min(first + together, shape.chunk_count()); ++chunk) {
        if (chunk_owner(data.ownership, shape, chunk, comm.size()) != comm.rank()) {
          continue;
        }
        const LeafIntegers leaves = data.in_place ? data.in_place(chunk) : LeafIntegers{};
        const bool has_a = add_in_place(a_sum, chunk, leaves);
        const bool has_b = !pair || add_in_place_b(b_sum, chunk, leaves);
        if (has_a && has_b) {
          continue;
        }
        const std::size_t at = (chunk - first) * size;
        read_chunk(data, chunk, std::span(a).subspan(at, size), pair ? std::span(b).subspan(at, size) : std::span(b));
        if (!has_a) {
          a_sum.add(chunk, as_signed(a.data() + at));
        }
        if (!has_b) {
          b_sum.add(chunk, static_cast<const std::int32_t*>(b.data() + at));
        }
      }
      a_sum.end();
      b_sum.end();
    }
#pragma omp critical(tessera_lookup_claims)
    {
      values.a += a_sum.value();
      values.b += b_sum.value();
    }
  }
  return values;
}

}  // namespace

std::vector<ColumnValues> evaluate_columns(const LookupInput& input, std::span<const E> point, Communicator& comm) {
  std::vector<ColumnValues> values;
  std::map<unsigned, ChunkWeights> weights;  // by inner bits
  for (std::size_t column = 0; column < input.structure.columns.size(); ++column) {
    const Shape& shape = input.structure.columns[column].shape;
    const std::span<const E> at = point.last(shape.bits());
    ChunkWeights& of_chunk = weights.try_emplace(shape.inner_bits(), at.last(shape.inner_bits())).first->second;
    values.push_back(evaluate_column(input, column, EqIndices(at.first(shape.outer_bits())), of_chunk, comm));
  }
  std::vector<E> all;
  for (const ColumnValues& value : values) {
    all.insert(all.end(), {value.a, value.b});
  }
  comm.all_reduce_sum(std::span(all));
  for (std::size_t column = 0; column < values.size(); ++column) {
    values[column] = {all[2 * column], all[2 * column + 1]};
  }
  return values;
}

}  // namespace tessera
