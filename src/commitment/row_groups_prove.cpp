#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tessera/commitment/row_groups.hpp>
#include <tessera/field/ntt.hpp>
#include <tessera/memory/storage.hpp>

namespace tessera {
namespace {

/// Rows that are encoded at once: two cache lines of a column, one where ranks exchange them (copies).
constexpr std::size_t group_rows = 16;
constexpr std::size_t exchanged_rows = 8;

template <class T>
F to_field(T value) {
  return F::from_signed(static_cast<std::int64_t>(value));
}

/// The part of a chunk's values that lies in some rows of the matrix: chunks are aligned to 2^7 >= the number of rows,
/// so a chunk is whole matrix columns, or the first values of one column if it is shorter.
template <class Visit>
void for_columns_of_chunk(std::size_t chunk_size, std::size_t offset, unsigned log_rows, RowRange rows, Visit visit) {
  const std::size_t width = std::size_t{1} << log_rows;
  for (std::size_t start = 0; start < chunk_size; start += width) {
    const std::size_t last = std::min(rows.last, chunk_size - start);
    if (rows.first < last) {
      visit((offset + start) >> log_rows, start + rows.first, last - rows.first);
    }
  }
}

template <class T>
int owner_of(const ChunkedTensor<T>& tensor, std::size_t chunk, int ranks) {
  return tensor.ownership().owner(tensor.shape(), chunk, ranks);
}

/// Fills groups of rows: coefficients in the order of the transform.
class RowGroups {
 public:
  RowGroups(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
            Communicator& comm)
      : layout_(layout),
        log_rows_(parameters.log_rows),
        log_padding_(parameters.log_inverse_rate),
        log_domain_(layout.log_size() - parameters.log_rows + parameters.log_inverse_rate),
        tensors_(tensors),
        comm_(comm),
        rows_at_once_(comm.size() == 1 ? group_rows : exchanged_rows) {
    if (tensors.size() != layout.tensors().size()) {
      throw std::invalid_argument("commit_oracle: the oracle has " + std::to_string(layout.tensors().size()) +
                                  " tensors, " + std::to_string(tensors.size()) + " given");
    }
    const std::size_t width = std::size_t{1} << log_rows_;
    filled_.resize(std::size_t{1} << (layout.log_size() - log_rows_));
    for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
      const Shape& shape = layout.tensors()[t];
      for (std::size_t chunk = 0; shape.chunk_size() >= width && chunk < shape.chunk_count(); ++chunk) {
        const auto first = filled_.begin() + static_cast<std::ptrdiff_t>(layout.offset(t, chunk) >> log_rows_);
        std::fill_n(first, shape.chunk_size() >> log_rows_, std::uint8_t{1});
      }
    }
  }

  [[nodiscard]] unsigned log_domain() const { return log_domain_; }
  [[nodiscard]] unsigned log_padding() const { return log_padding_; }
  [[nodiscard]] std::size_t steps() const {
    const std::size_t at_once = rows_at_once_ * static_cast<std::size_t>(comm_.size());
    return ((std::size_t{1} << log_rows_) + at_once - 1) / at_once;
  }
  /// Possibly none.
  [[nodiscard]] RowRange rows(std::size_t step, int rank) const {
    const std::size_t group = step * static_cast<std::size_t>(comm_.size()) + static_cast<std::size_t>(rank);
    const std::size_t count = std::size_t{1} << log_rows_;
    return {std::min(count, group * rows_at_once_), std::min(count, (group + 1) * rows_at_once_)};
  }

  /// This rank's rows of the step, as ntt() wants them. Collective.
  std::span<F> coefficients(std::size_t step) {
    const RowRange mine = rows(step, comm_.rank());
    if (buffer_.empty()) {
      buffer_.resize(std::min(rows_at_once_, std::size_t{1} << log_rows_) << log_domain_);
    }
    const std::span<F> data = std::span(buffer_).first(mine.size() << log_domain_);
    clear_gaps(mine.size(), data);
    if (comm_.size() == 1) {
      place_all(mine, data);
    } else {
      std::vector<std::vector<std::byte>> send;
      send.reserve(static_cast<std::size_t>(comm_.size()));
      for (int rank = 0; rank < comm_.size(); ++rank) {
        send.push_back(pack(rows(step, rank)));
      }
      place_received(mine, comm_.all_to_all_bytes(send), data);
    }
    return data;
  }

 private:
  /// Zeroes the slots of all coefficients that no chunk fills whole; the others are about to be written, and the slots
  /// between coefficients are not read by the transform.
  void clear_gaps(std::size_t row_count, std::span<F> data) const {
#pragma omp parallel for schedule(static)
    for (std::size_t column = 0; column < filled_.size(); ++column) {
      if (filled_[column] == 0) {
        std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(bit_reverse(column, log_domain_) * row_count), row_count,
                    F::zero());
      }
    }
  }

  /// A chunk's values straight into the slots.
  template <class T>
  void place_chunk(std::span<const T> values, std::size_t offset, RowRange rows, std::span<F> data) const {
    for_columns_of_chunk(values.size(), offset, log_rows_, rows,
                         [&](std::size_t column, std::size_t from, std::size_t count) {
                           F* row = data.data() + bit_reverse(column, log_domain_) * rows.size();
                           for (std::size_t i = 0; i < count; ++i) {
                             row[i] = to_field(values[from + i]);
                           }
                         });
  }

  /// One process: all chunks are here.
  void place_all(RowRange rows, std::span<F> data) const {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
#pragma omp parallel for schedule(static)
            for (std::size_t chunk = 0; chunk < tensor->shape().chunk_count(); ++chunk) {
              place_chunk(tensor->chunk(chunk), layout_.offset(t, chunk), rows, data);
            }
          },
          tensors_[t]);
    }
  }

  /// The raw integers of this rank's chunks for one other rank's rows: tensor by tensor, chunk by chunk.
  [[nodiscard]] std::vector<std::byte> pack(RowRange rows) const {
    std::vector<std::byte> bytes;
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
            for (const std::size_t chunk : tensor->held()) {
              if (owner_of(*tensor, chunk, comm_.size()) != comm_.rank()) {
                continue;
              }
              const auto values = tensor->chunk(chunk);
              for_columns_of_chunk(values.size(), layout_.offset(t, chunk), log_rows_, rows,
                                   [&](std::size_t, std::size_t from, std::size_t count) {
                                     const auto part = std::as_bytes(values.subspan(from, count));
                                     bytes.insert(bytes.end(), part.begin(), part.end());
                                   });
            }
          },
          tensors_[t]);
    }
    return bytes;
  }

  /// Writes this rank's rows into the slots of their coefficients, from the raw integers of every rank.
  void place_received(RowRange rows, const std::vector<std::vector<std::byte>>& received, std::span<F> data) const {
    const int ranks = static_cast<int>(received.size());
    std::vector<std::size_t> read(received.size(), 0);
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
            using T = std::remove_cvref_t<decltype(tensor->chunk(0)[0])>;
            for (std::size_t chunk = 0; chunk < tensor->shape().chunk_count(); ++chunk) {
              const auto source = static_cast<std::size_t>(owner_of(*tensor, chunk, ranks));
              for_columns_of_chunk(
                  tensor->shape().chunk_size(), layout_.offset(t, chunk), log_rows_, rows,
                  [&](std::size_t column, std::size_t, std::size_t count) {
                    F* row = data.data() + bit_reverse(column, log_domain_) * rows.size();
                    if (read[source] + count * sizeof(T) > received[source].size()) {
                      throw std::runtime_error("commit_oracle: ranks disagree on who owns which chunk");
                    }
                    for (std::size_t i = 0; i < count; ++i) {
                      T value;
                      std::memcpy(&value, received[source].data() + read[source], sizeof(T));
                      row[i] = to_field(value);
                      read[source] += sizeof(T);
                    }
                  });
            }
          },
          tensors_[t]);
    }
  }

  const OracleLayout& layout_;
  unsigned log_rows_;
  unsigned log_padding_;
  unsigned log_domain_;
  std::span<const IntegerTensor> tensors_;
  Communicator& comm_;
  std::size_t rows_at_once_;
  std::vector<std::uint8_t> filled_;  ///< matrix columns that chunks fill whole
  RawVector<F> buffer_;
};

/// visit(rank, its values in this rank's columns) from a rank's rows of all columns.
template <class Visit>
void exchange_columns(std::span<const F> mine, std::size_t row_count, ColumnRange columns, Communicator& comm,
                      const Visit& visit) {
  if (comm.size() == 1) {
    visit(0, mine);
    return;
  }
  const std::array<std::int64_t, 2> range{static_cast<std::int64_t>(columns.first),
                                          static_cast<std::int64_t>(columns.last)};
  const std::vector<std::int64_t> ranges = comm.all_gather<std::int64_t>(range);
  std::vector<std::vector<std::byte>> send(static_cast<std::size_t>(comm.size()));
  for (std::size_t rank = 0; rank < send.size(); ++rank) {
    const auto first = static_cast<std::size_t>(ranges[2 * rank]);
    const auto last = static_cast<std::size_t>(ranges[2 * rank + 1]);
    const auto part = std::as_bytes(mine.subspan(first * row_count, (last - first) * row_count));
    send[rank].assign(part.begin(), part.end());
  }
  std::vector<std::vector<std::byte>> received = comm.all_to_all_bytes(send);
  send.clear();
  for (std::size_t rank = 0; rank < received.size(); ++rank) {
    RawVector<F> values(received[rank].size() / sizeof(F));
    if (!values.empty()) {
      std::memcpy(static_cast<void*>(values.data()), received[rank].data(), received[rank].size());
    }
    received[rank] = std::vector<std::byte>();
    visit(static_cast<int>(rank), std::span<const F>(values));
  }
}

}  // namespace

void encode_rows(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
                 ColumnRange columns, Communicator& comm,
                 const std::function<void(RowRange rows, std::span<const F> values)>& visit) {
  RowGroups groups(layout, parameters, tensors, comm);
  for (std::size_t step = 0; step < groups.steps(); ++step) {
    const std::span<F> data = groups.coefficients(step);
    const std::size_t row_count = groups.rows(step, comm.rank()).size();
    ntt(data, groups.log_domain(), row_count, groups.log_padding());
    exchange_columns(data, row_count, columns, comm, [&](int rank, std::span<const F> values) {
      const RowRange rows = groups.rows(step, rank);
      if (values.size() != rows.size() * columns.size()) {
        throw std::runtime_error("commit_oracle: a rank sent a column range of the wrong size");
      }
      if (rows.size() > 0) {
        visit(rows, values);
      }
    });
  }
}

std::vector<F> columns_at(const OracleLayout& layout, const OracleParameters& parameters,
                          std::span<const IntegerTensor> tensors, std::span<const std::size_t> positions,
                          Communicator& comm) {
  const std::size_t width = std::size_t{1} << parameters.log_rows;
  std::vector<F> result(positions.size() * width);
  RowGroups groups(layout, parameters, tensors, comm);
  for (std::size_t step = 0; step < groups.steps(); ++step) {
    const std::span<F> data = groups.coefficients(step);
    const std::vector<F> mine =
        ntt_at(data, groups.log_domain(), groups.rows(step, comm.rank()).size(), groups.log_padding(), positions);
    const std::vector<F> all = comm.all_gather<F>(mine);
    auto next = all.begin();
    for (int rank = 0; rank < comm.size(); ++rank) {
      const RowRange rows = groups.rows(step, rank);
      for (std::size_t i = 0; i < positions.size(); ++i, next += static_cast<std::ptrdiff_t>(rows.size())) {
        std::copy_n(next, rows.size(), result.begin() + static_cast<std::ptrdiff_t>(i * width + rows.first));
      }
    }
  }
  return result;
}

}  // namespace tessera
