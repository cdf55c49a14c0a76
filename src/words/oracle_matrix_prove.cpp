#include "words/oracle_matrix.hpp"
#include "base/shares.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

namespace tessera {
namespace {

constexpr std::uint32_t no_chunk = std::numeric_limits<std::uint32_t>::max();
/// Values of neighbouring chunks that are worked on together.
constexpr std::size_t longest_run = std::size_t{1} << 16;

/// copy(rows), for numbers of rows that are common as constants: a few values are copied without a call then.
template <class Copy>
void with_rows(std::size_t rows, const Copy& copy) {
  switch (rows) {
    case 8:
      return copy(std::integral_constant<std::size_t, 8>());
    case 16:
      return copy(std::integral_constant<std::size_t, 16>());
    case 32:
      return copy(std::integral_constant<std::size_t, 32>());
    default:
      return copy(rows);
  }
}

}  // namespace

OracleMatrix::OracleMatrix(const OracleLayout& layout, const OracleParameters& parameters, std::size_t band,
                           std::span<const IntegerTensor> tensors, Communicator& comm)
    : layout_(layout),
      log_rows_(parameters.band(band).log_rows),
      tensors_(tensors),
      comm_(comm),
      alone_(comm.size() == 1),
      filled_(std::size_t{1} << layout.log_columns(parameters)),
      chunk_of_column_(filled_.size(), no_chunk) {
  if (tensors.size() != layout.tensors().size() || log_rows_ > layout.min_log_chunk()) {
    throw std::invalid_argument("commit_oracle: the oracle has " + std::to_string(layout.tensors().size()) +
                                " tensors, " + std::to_string(tensors.size()) + " given, for " +
                                std::to_string(parameters.rows()) + " rows");
  }
  std::size_t chunks = 0;
  for (const Shape& shape : layout.tensors()) {
    chunks += shape.chunk_count();
  }
  chunks_.reserve(chunks);
  owners_.reserve(chunks);
  own_.reserve(chunks);
  for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
    const Shape& shape = layout.tensors()[t];
    if (std::visit([&](const auto* tensor) { return !(tensor->shape() == shape); }, tensors[t]) ||
        (shape.is_divided() && shape.inner_bits() < layout.min_log_chunk())) {
      throw std::invalid_argument("commit_oracle: tensor " + std::to_string(t) +
                                  " is cut into other chunks than the oracle's, or into less than whole columns");
    }
    add_chunks(t, band);
  }
  runs_.push_back(chunks_.size());
  if (alone_) {
    whole_ = stretches({{0, std::size_t{1} << log_rows_}, {}, {}, {}});
  }
}

void OracleMatrix::add_chunks(std::size_t t, std::size_t band) {
  const Shape& shape = layout_.tensors()[t];
  const Ownership& ownership =
      std::visit([](const auto* tensor) -> const Ownership& { return tensor->ownership(); }, tensors_[t]);
  const int ranks = comm_.size(), rank = comm_.rank();  // not asked for every chunk
  const std::size_t columns = columns_of(shape);
  const bool filled = shape.chunk_size() >> log_rows_ != 0;
  std::size_t next = 0;  // column behind the last chunk
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (layout_.band(t, chunk) != band) {
      next = 0;
      continue;
    }
    const std::size_t column = layout_.offset(t, chunk) >> log_rows_;
    // chunks of a rank that is alone follow each other in memory, too; long runs are enough for a thread
    const bool goes_on = column == next && next != 0 &&
                         ((chunks_.size() - runs_.back()) << shape.inner_bits() < longest_run ||
                          column % (std::size_t{1} << GatheredRows::log_stretch) != 0);
    if (!goes_on) {
      runs_.push_back(chunks_.size());
    }
    next = column + columns;
    present_ = std::max(present_, next);
    const auto place = static_cast<std::uint32_t>(chunks_.size());
    std::fill_n(chunk_of_column_.begin() + static_cast<std::ptrdiff_t>(column), columns, place);
    if (filled) {
      std::fill_n(filled_.begin() + static_cast<std::ptrdiff_t>(column), columns, std::uint8_t{1});
    }
    chunks_.emplace_back(static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(chunk));
    owners_.push_back(alone_ ? 0 : ownership.owner(shape, chunk, ranks));
    if (owners_.back() == rank) {
      own_.push_back(place);
    }
  }
}

GatheredRows OracleMatrix::gather(Range rows) const {
  GatheredRows gathered{rows, {}, {}, {}};
  if (alone_) {
    gathered.stretches = stretches_of(rows);
    return gathered;
  }
  std::vector<std::size_t> next(static_cast<std::size_t>(comm_.size()) + 1, 0);  // bytes of the ranks, one place later
  gathered.chunk_start.reserve(chunks_.size());
  for_tensors([&](const auto& tensor, std::size_t, Range chunks) {
    const std::size_t column_bytes = chunk_rows(rows, tensor.shape().chunk_size()).size() * sizeof(tensor.chunk(0)[0]);
    const std::size_t columns = columns_of(tensor.shape());
    for (std::size_t i = chunks.first; i < chunks.last; ++i) {
      std::size_t& end = next[static_cast<std::size_t>(owners_[i]) + 1];
      gathered.chunk_start.push_back(end);
      end += columns * column_bytes;
    }
  });
  const auto me = static_cast<std::size_t>(comm_.rank());
  MessageBytes mine(next[me + 1]);
  for_tensors([&](const auto& tensor, std::size_t, Range chunks) {
    const Range part = chunk_rows(rows, tensor.shape().chunk_size());
    const std::size_t columns = part.size() > 0 ? columns_of(tensor.shape()) : 0;
    for (std::size_t i = chunks.first; i < chunks.last; ++i) {
      if (owners_[i] == comm_.rank()) {
        const auto values = tensor.chunk(chunks_[i].second);
        std::byte* to = mine.data() + gathered.chunk_start[i];
        for (std::size_t column = 0; column < columns; ++column) {
          const auto from = std::as_bytes(values.subspan((column << log_rows_) + part.first, part.size()));
          to = std::ranges::copy(from, to).out;
        }
      }
    }
  });
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    gathered.chunk_start[i] += next[static_cast<std::size_t>(owners_[i])];
  }
  gathered.bytes = comm_.gather_shared(mine);
  if (gathered.bytes.size() != next.back()) {
    throw std::runtime_error("commit_oracle: ranks disagree on who owns which chunk");
  }
  gathered.stretches = stretches(gathered);
  return gathered;
}

std::vector<ColumnStretch> OracleMatrix::stretches_of(Range rows) const {
  struct Part {
    std::size_t skipped;  // bytes
    std::uint16_t rows;
  };
  std::vector<Part> parts;
  for (const IntegerTensor& tensor : tensors_) {
    parts.push_back(std::visit(
        [&](const auto* values) {
          const Range part = chunk_rows(rows, values->shape().chunk_size());
          return Part{part.first * sizeof(values->chunk(0)[0]), static_cast<std::uint16_t>(part.size())};
        },
        tensor));
  }
  std::vector<ColumnStretch> all = whole_;
  for (ColumnStretch& stretch : all) {
    if (stretch.bytes != nullptr) {
      const Part& part = parts[stretch.tensor];
      stretch.bytes += part.skipped;
      stretch.rows = part.rows;
    }
  }
  return all;
}

std::vector<ColumnStretch> OracleMatrix::stretches(const GatheredRows& gathered) const {
  constexpr std::size_t size = std::size_t{1} << GatheredRows::log_stretch;
  std::vector<ColumnStretch> all((present_ + size - 1) / size);
  const std::size_t runs = run_count();
#pragma omp parallel for schedule(dynamic, share_of(runs))
  for (std::size_t run = 0; run < runs; ++run) {
    for (std::size_t i = runs_[run]; i < runs_[run + 1];) {
      const auto [t, chunk] = chunks_[i];
      const std::size_t first = layout_.offset(t, chunk) >> log_rows_;
      std::visit(
          [&, t = t](const auto* tensor) {
            const Place place = place_of(*tensor, gathered, static_cast<std::uint32_t>(i), first);
            const ColumnStretch of_chunk{place.bytes, static_cast<std::uint32_t>(place.step),
                                         static_cast<std::uint16_t>(t),
                                         static_cast<std::uint16_t>(count_of(*tensor, gathered))};
            const std::size_t columns = columns_of(tensor->shape());
            std::size_t last = first;
            do {  // chunks whose columns lie side by side
              ++i;
              last += columns;
            } while (i < runs_[run + 1] && place_of(*tensor, gathered, static_cast<std::uint32_t>(i), last).bytes ==
                                               place.bytes + (last - first) * place.step);
            // all of whose columns are the chunks', or the last ones that are present
            for (std::size_t s = (first + size - 1) / size;
                 std::min((s + 1) * size, present_) <= last && s * size < last; ++s) {
              all[s] = of_chunk;
              all[s].bytes += (s * size - first) * of_chunk.step;
            }
          },
          tensors_[t]);
    }
  }
  return all;
}

void OracleMatrix::values(const GatheredRows& gathered, std::size_t column, std::size_t count, F* to) const {
  const std::size_t rows = gathered.rows.size();
  const auto write = [&](const ColumnStretch& stretch, std::size_t columns) {
    std::visit(
        [&](const auto* tensor) {
          using T = std::remove_cvref_t<decltype(tensor->chunk(0)[0])>;
          const std::byte* bytes = stretch.bytes;
          with_rows(stretch.rows, [&](auto present) {  // the bytes are not aligned
            for (std::size_t i = 0; i < columns; ++i, to += rows, bytes += stretch.step) {
              std::array<T, std::size_t{1} << most_log_rows> integers;
              std::memcpy(integers.data(), bytes, present * sizeof(T));
              to_field(std::span<const T>(integers).first(present), to);
              std::fill(to + present, to + rows, F::zero());
            }
          });
        },
        tensors_[stretch.tensor]);
  };
  if (column + count <= present_) {
    if (const std::optional<ColumnStretch> stretch = gathered.stretch(column, count)) {
      return write(*stretch, count);
    }
  }
  for (const std::size_t last = column + count; column < last;) {
    const std::uint32_t i = chunk_of_column_[column];
    const std::size_t first = column;
    do {
      ++column;
    } while (column < last && chunk_of_column_[column] == i);
    if (i == no_chunk) {
      to = std::fill_n(to, (column - first) * rows, F::zero());
      continue;
    }
    const std::size_t t = chunks_[i].first;
    std::visit(
        [&](const auto* tensor) {
          const Place place = place_of(*tensor, gathered, i, first);
          write({place.bytes, static_cast<std::uint32_t>(place.step), static_cast<std::uint16_t>(t),
                 static_cast<std::uint16_t>(count_of(*tensor, gathered))},
                column - first);
        },
        tensors_[t]);
  }
}

void OracleMatrix::prefetch(const GatheredRows& gathered, std::size_t column, std::size_t count) const {
  constexpr std::size_t line = 64;
  if (column >= present_) {
    return;
  }
  const std::optional<ColumnStretch> stretch = gathered.stretch(column, count);
  if (!stretch) {
    return;
  }
  const std::byte* const end = stretch->bytes + count * stretch->step;
  for (const std::byte* bytes = stretch->bytes; bytes < end; bytes += std::max<std::size_t>(line, stretch->step)) {
    asm volatile("");  // gcc takes a function that only prefetches for one without effect, and drops calls
    __builtin_prefetch(bytes);
  }
}

std::optional<ScaledIntegers> OracleMatrix::integers(const GatheredRows& gathered, std::size_t column,
                                                     std::size_t count, std::uint16_t* scratch) const {
  const std::size_t rows = gathered.rows.size();
  if (column + count > present_) {
    return std::nullopt;
  }
  const std::optional<ColumnStretch> stretch = gathered.stretch(column, count);
  if (!stretch) {
    return std::nullopt;
  }
  return std::visit(
      [&](const auto* tensor) -> std::optional<ScaledIntegers> {
        using T = std::remove_cvref_t<decltype(tensor->chunk(0)[0])>;
        if (sizeof(T) != sizeof(std::uint16_t)) {
          return std::nullopt;
        }
        const std::uint16_t flip = std::is_signed_v<T> ? std::uint16_t{1} << 15 : 0;
        if (stretch->rows == rows && stretch->step == rows * sizeof(std::uint16_t)) {
          return ScaledIntegers{stretch->bytes, flip, {}};
        }
        if (stretch->rows < rows) {
          std::fill_n(scratch, count * rows, std::uint16_t{0});
        }
        with_rows(stretch->rows, [&](auto present) {
          for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(scratch + i * rows, stretch->bytes + i * stretch->step, present * sizeof(std::uint16_t));
          }
        });
        return ScaledIntegers{reinterpret_cast<const std::byte*>(scratch), flip, {}};
      },
      tensors_[stretch->tensor]);
}

}  // namespace tessera
