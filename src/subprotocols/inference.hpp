#pragma once

#include <algorithm>
#include <optional>

#include "arithmetic/integer_product.hpp"
#include "arithmetic/range_guard.hpp"
#include "plan/parameters.hpp"
#include "plan/trace.hpp"
#include "subprotocols/exception_recorder.hpp"
#include "subprotocols/residual.hpp"

namespace tessera {

/// A place (plan/exceptions.hpp), whose number is computed where it is asked for: few values leave their range.
class PlaceOfRow {
 public:
  explicit PlaceOfRow(std::uint64_t number) : number_(number) {}
  /// Row `row` of a block of a tensor (block, dimensions of the row.., tokens), or (rows, tokens), at token `first`;
  /// rows are numbered without padding. The shape must stay where it is.
  PlaceOfRow(const Shape& shape, std::size_t block, std::size_t row, std::size_t first)
      : shape_(&shape), block_(block), row_(row), number_(first) {}
  [[nodiscard]] std::uint64_t number() const {
    if (shape_ == nullptr) {
      return number_;
    }
    const std::vector<Dimension>& dimensions = shape_->dimensions();
    std::uint64_t rows = 1;
    for (std::size_t j = dimensions.size() > 2 ? 1 : 0; j + 1 < dimensions.size(); ++j) {
      rows *= dimensions[j].length;
    }
    return (block_ * rows + row_) * dimensions.back().length + number_;
  }

 private:
  const Shape* shape_ = nullptr;
  std::size_t block_ = 0, row_ = 0;
  std::uint64_t number_;
};

/// What the layers' inference steps share. Every rank computes the rows that it owns of each tensor; activations are
/// gathered between layers.
struct InferenceContext {
  const Parameters& parameters;
  Communicator& comm;
  RangeGuard& guard;
  Trace* trace = nullptr;           // nullptr: nothing is recorded
  std::size_t capacity = 0;         // rows
  std::size_t past = 0;             // positions before the first row
  SharedBytes* gathered = nullptr;  // where a large gathering stays until the next one, which may have its memory
  ExceptionRecorder* exceptions = nullptr;  // nullptr: a value outside its range is an error

  [[nodiscard]] bool recording() const { return trace != nullptr; }
  /// What this rank owns of a dimension.
  [[nodiscard]] Range owned(const Dimension& dimension) const;
  /// Rows of a block that this rank owns of a tensor (block, dimensions of the row.., tokens).
  [[nodiscard]] Range owned(const Shape& shape) const;
  /// All of a vector parameter of one block.
  [[nodiscard]] std::span<const std::int16_t> vector(ParameterId id, std::size_t block) const {
    return parameters[id].block(block).rows({0, parameters[id].extents().rows});
  }
  /// All ranks' rows of `dimension`, `row_size` values each, if no value of any rank has left its range. One call, of
  /// lengths that all know: a token's rows are few. Collective.
  template <class T>
  std::vector<T> gather(const Dimension& dimension, std::size_t row_size, std::vector<T> mine) const {
    return gather_parts([&](int rank) { return owned_rows(dimension, rank, comm.size()).size() * row_size; },
                        std::move(mine));
  }
  /// All ranks' values, one rank's after the other's, if no value of any rank has left its range; lengths may be any
  /// that all ranks know. Collective.
  template <class T, class Length>
  std::vector<T> gather_parts(const Length& length_of, std::vector<T> mine) const {
    if (comm.size() == 1) {
      guard.agree(comm);
      return mine;
    }
    mine.push_back(guard.violated() ? T{1} : T{0});
    std::vector<std::size_t> lengths;
    for (int rank = 0; rank < comm.size(); ++rank) {
      lengths.push_back((length_of(rank) + 1) * sizeof(T));
    }
    const SharedBytes all = gather_bytes(std::as_bytes(std::span(mine)), lengths);
    std::vector<T> rows(all.size() / sizeof(T) - lengths.size());
    auto* to = reinterpret_cast<std::byte*>(rows.data());
    const std::byte* from = all.data();
    bool good = true;
    for (const std::size_t length : lengths) {
      to = std::copy_n(from, length - sizeof(T), to);
      from += length;
      good = good && std::all_of(from - sizeof(T), from, [](std::byte byte) { return byte == std::byte{0}; });
    }
    if (!good) {
      guard.agree(comm);
    }
    return rows;
  }
  /// Bytes of all ranks, of these lengths, one after the other. Collective.
  [[nodiscard]] SharedBytes gather_bytes(std::span<const std::byte> mine, std::span<const std::size_t> lengths) const;
};

/// Some consecutive tokens on their way through the layers. Matrices are (feature, token) row-major.
struct Batch {
  std::size_t first = 0;                  // row of the first token
  std::size_t size = 0;                   // tokens
  std::vector<std::int32_t> x;            // residual stream (n_embd, size)
  std::vector<std::int16_t> u;            // what a branch reads: a norm's output (n_embd, size)
  std::vector<std::int32_t> wide_u = {};  // in place of u where it has more bits, else empty
  bool shared = false;  // among the ranks of a head's team, by tokens; else the first one infers the head

  /// What a branch reads, of some tokens, as the right factor of products.
  [[nodiscard]] ProductInput input(Range some) const;
  [[nodiscard]] ProductInput input() const { return input({0, size}); }
};

/// Whether rows of so many columns, each with a range check and a record that cost as much as 16 values, are worth
/// waking other threads: five microseconds of one thread.
inline bool worth_threads(std::size_t rows, std::size_t columns) {
  return rows * (columns + 16) > std::size_t{1} << 13;
}

inline constexpr Bounds int16_bounds = Bounds::signed_bits(16);

/// A row of values of one list, the tokens of a batch.
struct ClampedRow {
  ClampId list;
  std::string_view title;  // in range errors
  Bounds bounds;
  PlaceOfRow place;    // of the first value
  bool listed = true;  // here: no other rank lists it
};

/// Values of a row that leave the bounds are an error, or they are clamped and listed. `narrow`: the row as it was cut
/// to its type; wide(t): the values before that.
template <class T, class Wide>
void settle(const InferenceContext& context, const ClampedRow& row, const Extent& extent, std::span<T> narrow,
            const Wide& wide) {
  if (row.bounds.contains(extent.low) && row.bounds.contains(extent.high)) {
    return;
  }
  if (context.exceptions == nullptr) {
    extent.check(context.guard, row.title, row.bounds);
    return;
  }
  const std::uint64_t first = row.place.number();
  for (std::size_t t = 0; t < narrow.size(); ++t) {
    const std::int64_t value = wide(t);
    const std::int64_t clamped = std::clamp(value, row.bounds.low, row.bounds.high);
    narrow[t] = static_cast<T>(clamped);
    if (clamped != value && row.listed) {
      context.exceptions->add(row.list, {first + t, value - clamped});
    }
  }
}

/// This thread's memory for one row of values, until it is asked for again.
template <class T>
std::span<T> row_buffer(std::size_t size) {
  static thread_local std::vector<T> values;
  values.resize(std::max(values.size(), size));
  return std::span<T>(values).first(size);
}

/// rshift and its remainder: value + 2^(shift-1) = quotient*2^shift + remainder.
struct Rounded {
  std::int64_t quotient;
  std::int64_t remainder;
};
inline Rounded rshift(std::int64_t value, int shift) {
  const std::int64_t sum = value + (std::int64_t{1} << (shift - 1));
  return {sum >> shift, sum & ((std::int64_t{1} << shift) - 1)};
}

/// rshift(W*input + bias*2^b, S) of one block.
struct Linear {
  std::string_view title;  // in range errors
  ParameterId weight;
  std::optional<ParameterId> bias;  // none: 0
  int shift = 0;
  int bias_shift = 0;
};

/// Where rows `rows` of a projection go, values of `bits` bits: `values` (row rows.first first), and those of
/// `recorded` into the trace.
template <class T>
struct Destination {
  Range rows;
  T* values;
  std::size_t stride;
  Range recorded;
  Recorded<T> trace;
  Recorded<std::uint16_t> remainders;
  Shape shape;  // (block, dimensions of a row.., tokens)
  ClampId clamp;
  unsigned bits = 16;
};

/// The rows of a projection. T: int16_t or int32_t.
template <class T>
void project(const InferenceContext& context, const Linear& linear, const ProductInput& input, const Destination<T>& to,
             std::size_t block, std::size_t first);

/// A projection z (B,N,T) of `bits` bits through a function table of 2^bits rows, and where both are recorded.
template <class T>
struct Activation {
  Shape inner;
  Recorded<T> z;
  Recorded<std::uint16_t> remainders;
  Recorded<T> values;
  ClampId clamp;  // of z
  unsigned bits = 16;
};

/// This rank's rows of table[z + 2^(bits-1)], (rows, batch.size). T: int16_t or int32_t.
template <class T>
std::vector<T> activate(const InferenceContext& context, const Linear& linear, const ProductInput& input,
                        const Activation<T>& activation, std::span<const std::int32_t> table, std::size_t block,
                        const Batch& batch);

/// The residual stream (B, F, T), `bits` wide, and the remainders of what is added to it.
struct ResidualStream {
  const Shape& shape;
  Recorded<std::uint16_t> remainders;
  unsigned bits;
};

/// batch.x += rshift(W*input + bias*2^b, S), gathered; the remainder of this rank's features is recorded. `clamped`:
/// the list that x belongs to then.
void add_residual(const InferenceContext& context, const Linear& linear, const ProductInput& input,
                  const ResidualStream& stream, std::size_t block, const ClampedBlock& clamped, Batch& batch);

/// Records this rank's features of the residual stream.
void record_residual(const InferenceContext& context, Recorded<std::int32_t> tensor, std::size_t block,
                     const Batch& batch);

}  // namespace tessera
