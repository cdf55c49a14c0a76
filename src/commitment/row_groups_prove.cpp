#include <algorithm>
#include <cstring>
#include "commitment/row_groups.hpp"
#include "field/ntt.hpp"
#include "memory/storage.hpp"

#include "commitment/oracle_matrix.hpp"

namespace tessera {
namespace {

/// Rows that are encoded at once: two cache lines of a column, one where ranks exchange them (copies).
constexpr std::size_t group_rows = 16;
constexpr std::size_t exchanged_rows = 8;

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

/// Encodes groups of rows.
class RowGroups {
 public:
  RowGroups(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
            Communicator& comm)
      : matrix_(layout, parameters.log_rows, tensors, comm),
        log_padding_(parameters.log_inverse_rate),
        log_domain_(layout.log_size() - parameters.log_rows + parameters.log_inverse_rate),
        comm_(comm),
        rows_at_once_(comm.size() == 1 ? group_rows : exchanged_rows) {}

  [[nodiscard]] std::size_t steps() const {
    const std::size_t at_once = rows_at_once_ * static_cast<std::size_t>(comm_.size());
    return ((std::size_t{1} << matrix_.log_rows()) + at_once - 1) / at_once;
  }
  /// Possibly none.
  [[nodiscard]] Range rows(std::size_t step, int rank) const {
    const std::size_t group = step * static_cast<std::size_t>(comm_.size()) + static_cast<std::size_t>(rank);
    const std::size_t count = std::size_t{1} << matrix_.log_rows();
    return {std::min(count, group * rows_at_once_), std::min(count, (group + 1) * rows_at_once_)};
  }

  /// This rank's rows of the step, encoded. Collective.
  std::span<const F> encode(std::size_t step) {
    const Range mine = rows(step, comm_.rank());
    if (buffer_.empty()) {
      buffer_.resize(std::min(rows_at_once_, std::size_t{1} << matrix_.log_rows()) << log_domain_);
    }
    const std::span<F> data = std::span(buffer_).first(mine.size() << log_domain_);
    // slots of coefficients that no chunk fills whole; the others are about to be written, and the slots between
    // coefficients are not read by the transform
#pragma omp parallel for schedule(static)
    for (std::size_t column = 0; column < matrix_.columns(); ++column) {
      if (!matrix_.filled(column)) {
        std::fill_n(slot(data, column, mine), mine.size(), F::zero());
      }
    }
    matrix_.collect([&](int rank) { return RowSelection{rows(step, rank)}; },
                    [&](std::size_t column, auto values) { to_field(values, slot(data, column, mine)); });
    ntt(data, log_domain_, mine.size(), log_padding_);
    return data;
  }

 private:
  [[nodiscard]] F* slot(std::span<F> data, std::size_t column, Range rows) const {
    return data.data() + bit_reverse(column, log_domain_) * rows.size();
  }

  OracleMatrix matrix_;
  unsigned log_padding_;
  unsigned log_domain_;
  Communicator& comm_;
  std::size_t rows_at_once_;
  RawVector<F> buffer_;
};

/// visit(rank, its values in this rank's columns) from a rank's rows of all columns.
template <class Visit>
void exchange_columns(std::span<const F> mine, std::size_t row_count, Range columns, Communicator& comm,
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
                 Range columns, Communicator& comm,
                 const std::function<void(Range rows, std::span<const F> values)>& visit) {
  RowGroups groups(layout, parameters, tensors, comm);
  for (std::size_t step = 0; step < groups.steps(); ++step) {
    const std::span<const F> data = groups.encode(step);
    exchange_columns(data, groups.rows(step, comm.rank()).size(), columns, comm,
                     [&](int rank, std::span<const F> values) {
                       const Range rows = groups.rows(step, rank);
                       if (values.size() != rows.size() * columns.size()) {
                         throw std::runtime_error("commit_oracle: a rank sent a column range of the wrong size");
                       }
                       if (rows.size() > 0) {
                         visit(rows, values);
                       }
                     });
  }
}

}  // namespace tessera
