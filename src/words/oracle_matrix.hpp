#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include "cluster/communicator.hpp"
#include "words/oracle.hpp"
#include "field/scale_kernels.hpp"
#include "memory/storage.hpp"

/// \file
/// A band of rows of an oracle's matrix, from chunks that many ranks hold: how its parts reach the rank that transforms
/// them. Inside the commitment library only.

namespace tessera {

/// One column of a chunk or a part of it: `count` values from place `from` of the chunk on.
struct ColumnPiece {
  std::size_t column;
  std::size_t from;
  std::size_t count;
};

/// Where a chunk's values of some rows are: those of its next column stand `step` bytes further. A stretch of columns
/// that are not all of one chunk has none.
struct ColumnStretch {
  const std::byte* bytes = nullptr;
  std::uint32_t step = 0;
  std::uint16_t tensor = 0;
  std::uint16_t rows = 0;
};

/// Values of some rows of all columns, as the tensors have them. Of a rank that is alone: in the tensors.
struct GatheredRows {
  /// log2 of a stretch's columns: few enough stretches for the cache, since columns are read in bit-reversed order.
  static constexpr unsigned log_stretch = 5;

  Range rows;
  SharedBytes bytes;                     // rank after rank, of each its chunks, tensor by tensor
  std::vector<std::size_t> chunk_start;  // in bytes, of all chunks
  std::vector<ColumnStretch> stretches;
  /// The stretch of columns column .. column + count - 1, from the first one's values on; nothing if they are not in
  /// one.
  [[nodiscard]] std::optional<ColumnStretch> stretch(std::size_t column, std::size_t count) const {
    ColumnStretch found = stretches[column >> log_stretch];
    const std::size_t place = column % (std::size_t{1} << log_stretch);
    if (found.bytes == nullptr || place + count > std::size_t{1} << log_stretch) {
      return std::nullopt;
    }
    found.bytes += place * found.step;
    return found;
  }
};

/// Whole columns: those with column mod 2^log_parts in [first, last).
struct PartSelection {
  std::size_t first;
  std::size_t last;
  unsigned log_parts;

  template <class Visit>
  void visit(std::size_t chunk_size, std::size_t offset, unsigned log_rows, const Visit& visit) const {
    const std::size_t width = std::size_t{1} << log_rows;
    const std::size_t begin = offset >> log_rows;
    const std::size_t end = begin + std::max(std::size_t{1}, chunk_size >> log_rows);
    for (std::size_t round = begin >> log_parts; round <= (end - 1) >> log_parts; ++round) {
      const std::size_t base = round << log_parts;
      for (std::size_t column = std::max(begin, base + first); column < std::min(end, base + last); ++column) {
        const std::size_t start = (column - begin) << log_rows;
        visit(ColumnPiece{column, start, std::min(width, chunk_size - start)});
      }
    }
  }
};

/// The columns of a band of 2^log_rows rows, and who has the values. Rows are counted from the band's first one.
/// `Selection` says which values a rank wants:
///   selection.visit(chunk_size, offset, log_rows, visit)
/// calls visit(ColumnPiece) for those of a chunk at place `offset` of the oracle, in ascending order. Chunks are
/// aligned to the number of rows or more: a chunk is whole matrix columns, or the first values of one column if it is
/// shorter.
class OracleMatrix {
 public:
  /// `band`: its number among the parameters' bands. Keeps references to all but the parameters.
  OracleMatrix(const OracleLayout& layout, const OracleParameters& parameters, std::size_t band,
               std::span<const IntegerTensor> tensors, Communicator& comm);
  /// Whether chunks fill a column whole.
  [[nodiscard]] bool filled(std::size_t column) const { return filled_[column] != 0; }
  [[nodiscard]] std::size_t columns() const { return filled_.size(); }
  /// Columns from this one on are zero.
  [[nodiscard]] std::size_t present() const { return present_; }
  [[nodiscard]] unsigned log_rows() const { return log_rows_; }

  /// Rows of all columns, from all ranks; valid until the next call. Collective.
  [[nodiscard]] GatheredRows gather(Range rows) const;
  /// The values of these rows in `count` neighbouring columns as elements of F, column after column.
  void values(const GatheredRows& gathered, std::size_t column, std::size_t count, F* to) const;
  /// What values() or integers() is going to read.
  void prefetch(const GatheredRows& gathered, std::size_t column, std::size_t count) const;
  /// The integers of `count` columns from `column` on, without a factor, if they have values of 16 bits that are
  /// evenly far apart; else nothing. Those that do not lie side by side, or do not fill the gathered rows, are copied
  /// to `scratch`.
  [[nodiscard]] std::optional<ScaledIntegers> integers(const GatheredRows& gathered, std::size_t column,
                                                       std::size_t count, std::uint16_t* scratch) const;

  /// place(piece.column, values of the piece) for everything that this rank's selection wants of all ranks'.
  /// selection(rank) is the Selection of a rank. Collective.
  template <class SelectionOf, class Place>
  void collect(const SelectionOf& selection, const Place& place) const {
    std::vector<MessageBytes> send;
    send.reserve(static_cast<std::size_t>(comm_.size()));
    for (int rank = 0; rank < comm_.size(); ++rank) {
      send.push_back(pack(selection(rank)));
    }
    place_received(selection(comm_.rank()), comm_.all_to_all_bytes(std::move(send)), place);
  }

 private:
  /// body(tensor, its number, places of its chunks in chunks_) with the tensor's type.
  template <class Body>
  void for_tensors(const Body& body) const {
    for (std::size_t i = 0; i < chunks_.size();) {
      const std::size_t t = chunks_[i].first;
      const std::size_t first = i;
      while (i < chunks_.size() && chunks_[i].first == t) {
        ++i;
      }
      std::visit([&](const auto* tensor) { body(*tensor, t, Range{first, i}); }, tensors_[t]);
    }
  }

  /// Rows of a chunk that are among `rows`, in each of its columns.
  [[nodiscard]] Range chunk_rows(Range rows, std::size_t chunk_size) const {
    const std::size_t last = std::min(std::min(chunk_size, std::size_t{1} << log_rows_), rows.last);
    return {std::min(rows.first, last), last};
  }

  template <class T>
  [[nodiscard]] std::size_t count_of(const ChunkedTensor<T>& tensor, const GatheredRows& gathered) const {
    return chunk_rows(gathered.rows, tensor.shape().chunk_size()).size();
  }
  /// Where a chunk's values of the gathered rows of `column` are, and how many bytes further those of the next column
  /// are: of the next chunk, if one is no more than a column and that lies behind it.
  struct Place {
    const std::byte* bytes;
    std::size_t step;
  };
  template <class T>
  [[nodiscard]] Place place_of(const ChunkedTensor<T>& tensor, const GatheredRows& gathered, std::uint32_t i,
                               std::size_t column) const {
    const auto [t, chunk] = chunks_[i];
    const std::size_t place = column - (layout_.offset(t, chunk) >> log_rows_);
    if (alone_) {
      const std::size_t size = tensor.shape().chunk_size();
      const Range rows = chunk_rows(gathered.rows, size);
      return {std::as_bytes(tensor.chunk(chunk).subspan((place << log_rows_) + rows.first)).data(),
              std::min(size, std::size_t{1} << log_rows_) * sizeof(T)};
    }
    const std::size_t step = count_of(tensor, gathered) * sizeof(T);
    return {gathered.bytes.data() + gathered.chunk_start[i] + place * step, step};
  }

  /// The chunks of a tensor in a band.
  void add_chunks(std::size_t tensor, std::size_t band);
  [[nodiscard]] std::size_t run_count() const { return runs_.size() - 1; }
  /// How many columns a chunk fills, at least 1.
  [[nodiscard]] std::size_t columns_of(const Shape& shape) const {
    return std::max(std::size_t{1}, shape.chunk_size() >> log_rows_);
  }
  /// The stretches of some rows, of a rank that is alone.
  [[nodiscard]] std::vector<ColumnStretch> stretches_of(Range rows) const;
  /// Finds out for each stretch of columns where in memory its chunks' values lie.
  [[nodiscard]] std::vector<ColumnStretch> stretches(const GatheredRows& gathered) const;

  /// The raw integers of this rank's chunks for a selection, in the chunks' order.
  template <class Selection>
  [[nodiscard]] MessageBytes pack(const Selection& selection) const {
    MessageBytes bytes;
    for (const std::uint32_t i : own_) {
      const auto [t, chunk] = chunks_[i];
      std::visit(
          [&](const auto* tensor) {
            const auto values = tensor->chunk(chunk);
            selection.visit(values.size(), layout_.offset(t, chunk), log_rows_, [&](ColumnPiece piece) {
              const auto part = std::as_bytes(values.subspan(piece.from, piece.count));
              bytes.insert(bytes.end(), part.begin(), part.end());
            });
          },
          tensors_[t]);
    }
    return bytes;
  }

  template <class Selection, class Place>
  void place_received(const Selection& selection, const std::vector<MessageBytes>& received, const Place& place) const {
    std::vector<std::size_t> read(received.size(), 0);
    for_tensors([&](const auto& tensor, std::size_t t, Range chunks) {
      using T = std::remove_cvref_t<decltype(tensor.chunk(0)[0])>;
      std::array<T, std::size_t{1} << most_log_rows> values;  // a piece is at most a column
      for (std::size_t i = chunks.first; i < chunks.last; ++i) {
        const auto source = static_cast<std::size_t>(owners_[i]);
        const auto visit = [&](ColumnPiece piece) {
          const std::size_t bytes = piece.count * sizeof(T);
          if (read[source] + bytes > received[source].size()) {
            throw std::runtime_error("commit_oracle: ranks disagree on who owns which chunk");
          }
          std::memcpy(values.data(), received[source].data() + read[source], bytes);
          read[source] += bytes;
          place(piece.column, std::span<const T>(values).first(piece.count));
        };
        selection.visit(tensor.shape().chunk_size(), layout_.offset(t, chunks_[i].second), log_rows_, visit);
      }
    });
  }

  const OracleLayout& layout_;
  unsigned log_rows_;
  std::span<const IntegerTensor> tensors_;
  Communicator& comm_;
  bool alone_;
  ZeroedVector<std::uint8_t> filled_;
  std::size_t present_ = 0;
  RawVector<std::pair<std::uint32_t, std::uint32_t>> chunks_;  // tensor and chunk of all in the band
  std::vector<std::size_t> runs_;  // first places there of chunks that follow each other in the oracle, without padding
  RawVector<int> owners_;          // of these
  RawVector<std::uint32_t> own_;   // places there of this rank's
  RawVector<std::uint32_t> chunk_of_column_;  // its place in chunks_
  std::vector<ColumnStretch> whole_;          // of all rows, of a rank that is alone
};

/// Coefficients for a CosetTransform.
struct GatheredCoefficients {
  const OracleMatrix& matrix;
  const GatheredRows& gathered;
  void operator()(std::size_t column, std::size_t count, F* to) const { matrix.values(gathered, column, count, to); }
  void prefetch(std::size_t column, std::size_t count) const { matrix.prefetch(gathered, column, count); }
  [[nodiscard]] std::optional<ScaledIntegers> integers(std::size_t column, std::size_t count,
                                                       std::uint16_t* scratch) const {
    return matrix.integers(gathered, column, count, scratch);
  }
};

/// Integers as elements of F.
template <class T>
void to_field(std::span<const T> values, F* to) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    to[i] = F::from_signed(static_cast<std::int64_t>(values[i]));
  }
}

}  // namespace tessera
