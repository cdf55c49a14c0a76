#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include "commitment/row_groups.hpp"
#include "field/ntt_kernels.hpp"
#include "memory/storage.hpp"

#include "commitment/oracle_matrix.hpp"

namespace tessera {
namespace {

/// Rows that are encoded at once: two cache lines of a column, one where ranks gather them.
constexpr std::size_t alone_rows = 16;
constexpr std::size_t gathered_rows = 8;
/// log2 of the columns and of the slots that are neighbours in a tile.
constexpr unsigned log_tile = 5;

/// Some rows of every column.
struct RowSelection {
  Range rows;

  template <class Visit>
  void visit(std::size_t chunk_size, std::size_t offset, unsigned log_rows, const Visit& visit) const {
    const std::size_t width = std::size_t{1} << log_rows;
    for (std::size_t start = 0; start < chunk_size; start += width) {
      const std::size_t last = std::min(rows.last, chunk_size - start);
      if (rows.first < last) {
        visit(ColumnPiece{(offset + start) >> log_rows, start + rows.first, last - rows.first});
      }
    }
  }
};

/// Powers of w below w^count, two factors each.
class PowerTable {
 public:
  PowerTable(F w, std::size_t count) : low_(std::min(count, std::size_t{1} << log_low)), high_((count >> log_low) + 1) {
    fill(low_, w);
    fill(high_, w.power(std::size_t{1} << log_low));
  }
  [[nodiscard]] F operator[](std::size_t i) const {
    return low_[i & ((std::size_t{1} << log_low) - 1)] * high_[i >> log_low];
  }

 private:
  static constexpr unsigned log_low = 10;
  static void fill(std::vector<F>& powers, F w) {
    F power = F::one();
    for (F& entry : powers) {
      entry = std::exchange(power, power * w);
    }
  }
  std::vector<F> low_, high_;
};

/// Encodes groups of rows at this rank's positions. With L = 2^log_size positions in a coset, w of the domain's order
/// and coset q, the value at position q + 2^log_count * i is
///
///   sum_c a_c w^(q c) (w^(2^log_count))^(i c) = sum_(j < L) (sum_(c = j mod L) a_c w^(q c)) (w^(2^log_count))^(i j).
class CosetEncoder {
 public:
  CosetEncoder(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
               Communicator& comm)
      : matrix_(layout, parameters.log_rows, tensors, comm),
        log_domain_(layout.log_size() - parameters.log_rows + parameters.log_inverse_rate),
        cosets_(log_domain_, comm.rank(), comm.size()),
        log_padding_(parameters.log_inverse_rate - std::min(parameters.log_inverse_rate, cosets_.log_count())),
        rows_at_once_(std::min(std::size_t{1} << parameters.log_rows, comm.size() == 1 ? alone_rows : gathered_rows)) {}

  [[nodiscard]] const Cosets& cosets() const { return cosets_; }
  [[nodiscard]] std::size_t steps() const { return (std::size_t{1} << matrix_.log_rows()) / rows_at_once_; }
  [[nodiscard]] Range rows(std::size_t step) const { return {step * rows_at_once_, (step + 1) * rows_at_once_}; }

  /// The step's rows at this rank's positions: values[place * rows + row]. Collective.
  std::span<const F> encode(std::size_t step) {
    buffer_.resize(cosets_.size() * rows_at_once_);
    if (cosets_.log_count() == 0) {
      place(rows(step));
    } else {
      fold(matrix_.gather(rows(step)));
    }
    const std::size_t part = rows_at_once_ << cosets_.log_size();
    for (std::size_t i = 0; i < cosets_.mine().size(); ++i) {
      ntt(std::span(buffer_).subspan(i * part, part), cosets_.log_size(), rows_at_once_, log_padding_);
    }
    return buffer_;
  }

 private:
  /// Coefficients of the whole domain. Only slots that no chunk fills whole are cleared: the others are about to be
  /// written, and those between coefficients are not read by the transform.
  void place(Range rows) {
    const auto slot = [&](std::size_t column) {
      return buffer_.data() + bit_reverse(column, cosets_.log_size()) * rows_at_once_;
    };
#pragma omp parallel for schedule(static)
    for (std::size_t column = 0; column < matrix_.columns(); ++column) {
      if (!matrix_.filled(column)) {
        std::fill_n(slot(column), rows_at_once_, F::zero());
      }
    }
    matrix_.collect([&](int) { return RowSelection{rows}; },
                    [&](std::size_t column, auto values) { to_field(values, slot(column)); });
  }

  /// Coefficients of the cosets. Tile by tile of neighbouring columns and neighbouring slots: slots are columns with
  /// their bits reversed.
  void fold(const GatheredRows& gathered) {
    const unsigned log_size = cosets_.log_size();
    const unsigned side = std::min(log_tile, log_size / 2);
    const std::size_t length = std::size_t{1} << log_size;
    for (std::size_t i = 0; i < cosets_.mine().size(); ++i) {
      const PowerTable powers(F::root_of_unity(log_domain_).power(cosets_.mine().first + i), matrix_.columns());
      const std::span<F> data = std::span(buffer_).subspan(i * length * rows_at_once_, length * rows_at_once_);
#pragma omp parallel for schedule(static)
      for (std::size_t tile = 0; tile < length >> (2 * side); ++tile) {
        for (std::size_t high = 0; high < length >> log_padding_; high += length >> side) {
          for (std::size_t low = 0; low < std::size_t{1} << side; ++low) {
            fold_column(gathered, powers, high + (tile << side) + low, data);
          }
        }
      }
    }
  }

  /// The coefficients of columns `first`, first + 2^log_size, ...
  void fold_column(const GatheredRows& gathered, const PowerTable& powers, std::size_t first, std::span<F> data) const {
    if (first >> (cosets_.log_size() - log_padding_) != 0) {
      return;  // not read by the transform
    }
    F* const sums = data.data() + bit_reverse(first, cosets_.log_size()) * rows_at_once_;
    std::fill_n(sums, rows_at_once_, F::zero());
    std::array<F, gathered_rows> values;
    for (std::size_t column = first; column < matrix_.columns(); column += std::size_t{1} << cosets_.log_size()) {
      add_scaled(powers[column], values.data(), matrix_.values(gathered, column, values.data()), sums);
    }
  }

  OracleMatrix matrix_;
  unsigned log_domain_;
  Cosets cosets_;
  unsigned log_padding_;
  std::size_t rows_at_once_;
  RawVector<F> buffer_;
};

/// Values at this rank's positions, `count` each, to the ranks that have these columns; result: those of this rank's,
/// ascending. Collective.
class ColumnExchange {
 public:
  ColumnExchange(const Cosets& cosets, Range columns, Communicator& comm)
      : cosets_(cosets), columns_(columns), comm_(comm) {
    const std::array<std::int64_t, 2> mine{static_cast<std::int64_t>(columns.first),
                                           static_cast<std::int64_t>(columns.last)};
    ranges_ = comm.all_gather<std::int64_t>(mine);
  }

  template <class T>
  RawVector<T> operator()(std::span<const T> values, std::size_t count) const {
    std::vector<std::vector<std::byte>> send(static_cast<std::size_t>(comm_.size()));
    for (std::size_t rank = 0; rank < send.size(); ++rank) {
      visit(cosets_.mine(),
            {static_cast<std::size_t>(ranges_[2 * rank]), static_cast<std::size_t>(ranges_[2 * rank + 1])},
            [&](std::size_t position) {
              const auto part = std::as_bytes(values.subspan(cosets_.place(position) * count, count));
              send[rank].insert(send[rank].end(), part.begin(), part.end());
            });
    }
    const std::vector<std::vector<std::byte>> received = comm_.all_to_all_bytes(send);
    RawVector<T> result(columns_.size() * count);
    for (std::size_t rank = 0; rank < received.size(); ++rank) {
      const Cosets theirs(log_domain(), static_cast<int>(rank), comm_.size());
      std::size_t read = 0;
      visit(theirs.mine(), columns_, [&](std::size_t position) {
        if (read + count * sizeof(T) > received[rank].size()) {
          throw std::runtime_error("commit_oracle: a rank sent too few columns");
        }
        std::memcpy(static_cast<void*>(result.data() + (position - columns_.first) * count),
                    received[rank].data() + read, count * sizeof(T));
        read += count * sizeof(T);
      });
    }
    return result;
  }

 private:
  [[nodiscard]] unsigned log_domain() const { return cosets_.log_size() + cosets_.log_count(); }
  /// The positions of `cosets` in `columns`.
  template <class Visit>
  void visit(Range cosets, Range columns, const Visit& visit) const {
    const std::size_t stride = std::size_t{1} << cosets_.log_count();
    for (std::size_t coset = cosets.first; coset < cosets.last; ++coset) {
      const std::size_t skipped = (columns.first + stride - 1 - coset) / stride;
      for (std::size_t position = coset + skipped * stride; position < columns.last; position += stride) {
        visit(position);
      }
    }
  }

  const Cosets& cosets_;
  Range columns_;
  Communicator& comm_;
  std::vector<std::int64_t> ranges_;
};

}  // namespace

void encode_cosets(const OracleLayout& layout, const OracleParameters& parameters,
                   std::span<const IntegerTensor> tensors, Communicator& comm,
                   const std::function<void(Range rows, std::span<const F> values)>& visit) {
  CosetEncoder encoder(layout, parameters, tensors, comm);
  for (std::size_t step = 0; step < encoder.steps(); ++step) {
    visit(encoder.rows(step), encoder.encode(step));
  }
}

void encode_rows(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
                 Range columns, Communicator& comm,
                 const std::function<void(Range rows, std::span<const F> values)>& visit) {
  CosetEncoder encoder(layout, parameters, tensors, comm);
  if (comm.size() == 1 && columns.size() == encoder.cosets().size()) {
    return encode_cosets(layout, parameters, tensors, comm, visit);
  }
  const ColumnExchange exchange(encoder.cosets(), columns, comm);
  for (std::size_t step = 0; step < encoder.steps(); ++step) {
    const Range rows = encoder.rows(step);
    visit(rows, exchange(encoder.encode(step), rows.size()));
  }
}

TreeLevel to_columns(const Cosets& cosets, const TreeLevel& digests, Range columns, Communicator& comm) {
  return ColumnExchange(cosets, columns, comm)(std::span<const Digest>(digests), 1);
}

}  // namespace tessera
