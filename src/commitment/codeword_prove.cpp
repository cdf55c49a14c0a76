#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tessera/commitment/codeword.hpp>
#include <tessera/field/ntt.hpp>

namespace tessera {
namespace {

template <class T>
F to_field(T value) {
  return F::from_signed(static_cast<std::int64_t>(value));
}

/// Rows [first, last) of the matrix: those of `rank`.
struct RowRange {
  std::size_t first = 0;
  std::size_t last = 0;
  [[nodiscard]] std::size_t size() const { return last - first; }
};

std::size_t range_begin(std::size_t count, int rank, int ranks) {
  const auto r = static_cast<std::size_t>(rank);
  const auto n = static_cast<std::size_t>(ranks);
  return (count * r + n - 1) / n;  // the least index with floor(index * ranks / count) >= rank
}

RowRange rows_of(unsigned log_rows, int rank, int ranks) {
  const std::size_t rows = std::size_t{1} << log_rows;
  return {range_begin(rows, rank, ranks), range_begin(rows, rank + 1, ranks)};
}

/// The part of a chunk's values that lies in one row of the matrix: chunks are aligned to 2^7 >= the number of rows, so
/// a chunk is whole matrix columns, or the first values of one column if it is shorter.
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

/// The raw integers of this rank's chunks for one other rank's rows: tensor by tensor, chunk by chunk.
std::vector<std::byte> pack_rows(const OracleLayout& layout, unsigned log_rows, std::span<const IntegerTensor> tensors,
                                 RowRange rows, const Communicator& comm) {
  std::vector<std::byte> bytes;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::visit(
        [&](const auto* tensor) {
          for (const std::size_t chunk : tensor->held()) {
            if (owner_of(*tensor, chunk, comm.size()) != comm.rank()) {
              continue;
            }
            const auto values = tensor->chunk(chunk);
            for_columns_of_chunk(values.size(), layout.offset(t, chunk), log_rows, rows,
                                 [&](std::size_t, std::size_t from, std::size_t count) {
                                   const auto part = std::as_bytes(values.subspan(from, count));
                                   bytes.insert(bytes.end(), part.begin(), part.end());
                                 });
          }
        },
        tensors[t]);
  }
  return bytes;
}

/// Zeroes the slots of all coefficients that no chunk fills whole; the others are about to be written, and the slots
/// between coefficients are not read by the transform.
void clear_gaps(const OracleLayout& layout, unsigned log_rows, unsigned log_domain, std::size_t row_values,
                std::span<F> data) {
  const std::size_t width = std::size_t{1} << log_rows;
  std::vector<std::uint8_t> filled(std::size_t{1} << (layout.log_size() - log_rows));
  for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
    const Shape& shape = layout.tensors()[t];
    for (std::size_t chunk = 0; shape.chunk_size() >= width && chunk < shape.chunk_count(); ++chunk) {
      const auto first = filled.begin() + static_cast<std::ptrdiff_t>(layout.offset(t, chunk) >> log_rows);
      std::fill_n(first, shape.chunk_size() >> log_rows, std::uint8_t{1});
    }
  }
#pragma omp parallel for schedule(static)
  for (std::size_t column = 0; column < filled.size(); ++column) {
    if (filled[column] == 0) {
      std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(bit_reverse(column, log_domain) * row_values), row_values,
                  F::zero());
    }
  }
}

/// Writes this rank's rows into the slots of their coefficients, from the raw integers of every rank.
void place_rows(const OracleLayout& layout, unsigned log_rows, unsigned log_domain,
                std::span<const IntegerTensor> tensors, RowRange rows,
                const std::vector<std::vector<std::byte>>& received, std::span<F> data) {
  const int ranks = static_cast<int>(received.size());
  std::vector<std::size_t> read(received.size(), 0);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::visit(
        [&](const auto* tensor) {
          using T = std::remove_cvref_t<decltype(tensor->chunk(0)[0])>;
          for (std::size_t chunk = 0; chunk < tensor->shape().chunk_count(); ++chunk) {
            const auto source = static_cast<std::size_t>(owner_of(*tensor, chunk, ranks));
            for_columns_of_chunk(tensor->shape().chunk_size(), layout.offset(t, chunk), log_rows, rows,
                                 [&](std::size_t column, std::size_t, std::size_t count) {
                                   F* row = data.data() + bit_reverse(column, log_domain) * rows.size();
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
        tensors[t]);
  }
}

/// One process: straight from the tensors into the slots.
void place_all(const OracleLayout& layout, unsigned log_rows, unsigned log_domain,
               std::span<const IntegerTensor> tensors, std::span<F> data) {
  const std::size_t width = std::size_t{1} << log_rows;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::visit(
        [&](const auto* tensor) {
          const std::size_t size = tensor->shape().chunk_size();
          const std::size_t columns = (size + width - 1) >> log_rows;
          const std::size_t count = std::min(width, size);
#pragma omp parallel for schedule(static)
          for (std::size_t chunk = 0; chunk < tensor->shape().chunk_count(); ++chunk) {
            const auto values = tensor->chunk(chunk);
            for (std::size_t c = 0; c < columns; ++c) {
              const std::size_t column = (layout.offset(t, chunk) >> log_rows) + c;
              F* row = data.data() + (bit_reverse(column, log_domain) << log_rows);
              for (std::size_t i = 0; i < count; ++i) {
                row[i] = to_field(values[(c << log_rows) + i]);
              }
            }
          }
        },
        tensors[t]);
  }
}

/// From whole rows to whole columns: this rank's columns, assembled from every rank's rows.
RawVector<F> exchange_columns(RawVector<F> rows_data, unsigned log_rows, unsigned log_domain, Communicator& comm) {
  const RowRange mine = rows_of(log_rows, comm.rank(), comm.size());
  std::vector<std::vector<std::byte>> send(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::size_t first = first_column_of_rank(log_domain, rank, comm.size());
    const std::size_t last = first_column_of_rank(log_domain, rank + 1, comm.size());
    const auto part =
        std::as_bytes(std::span<const F>(rows_data).subspan(first * mine.size(), (last - first) * mine.size()));
    send[static_cast<std::size_t>(rank)].assign(part.begin(), part.end());
  }
  rows_data = {};
  const std::vector<std::vector<std::byte>> received = comm.all_to_all_bytes(send);
  const std::size_t count = first_column_of_rank(log_domain, comm.rank() + 1, comm.size()) -
                            first_column_of_rank(log_domain, comm.rank(), comm.size());
  RawVector<F> columns(count << log_rows);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const RowRange rows = rows_of(log_rows, rank, comm.size());
    const std::vector<std::byte>& bytes = received[static_cast<std::size_t>(rank)];
    if (bytes.size() != count * rows.size() * sizeof(F)) {
      throw std::runtime_error("commit_oracle: a rank sent a column range of the wrong size");
    }
    for (std::size_t column = 0; column < count && rows.size() > 0; ++column) {
      std::memcpy(static_cast<void*>(columns.data() + (column << log_rows) + rows.first),
                  bytes.data() + column * rows.size() * sizeof(F), rows.size() * sizeof(F));
    }
  }
  return columns;
}

}  // namespace

std::vector<Digest> hash_columns(std::span<const F> columns, std::size_t leaf_values) {
  std::vector<Digest> leaves(columns.size() / leaf_values);
  const auto bytes = std::span(reinterpret_cast<const std::uint8_t*>(columns.data()), columns.size_bytes());
  blake2s_many(bytes, leaf_values * sizeof(F), leaves);
  return leaves;
}

std::vector<Digest> merkle_parents(std::span<const Digest> children) {
  std::vector<Digest> nodes(children.size() / 2);
  if (!nodes.empty()) {
    blake2s_many({children.front().data(), children.size() * sizeof(Digest)}, 2 * sizeof(Digest), nodes);
  }
  return nodes;
}

std::vector<std::vector<Digest>> merkle_levels(std::vector<Digest> leaves) {
  std::vector<std::vector<Digest>> levels{std::move(leaves)};
  while (levels.back().size() > 1) {
    levels.push_back(merkle_parents(levels.back()));
  }
  return levels;
}

std::size_t first_column_of_rank(unsigned log_columns, int rank, int ranks) {
  const unsigned log_group = std::min(log_columns, upper_levels);
  return range_begin(std::size_t{1} << (log_columns - log_group), rank, ranks) << log_group;
}

int rank_of_column(std::size_t column, unsigned log_columns, int ranks) {
  const unsigned log_group = std::min(log_columns, upper_levels);
  return contiguous_owner(column >> log_group, std::size_t{1} << (log_columns - log_group), ranks);
}

Codeword encode_columns(const OracleLayout& layout, const OracleParameters& parameters,
                        std::span<const IntegerTensor> tensors, Communicator& comm) {
  const unsigned log_rows = parameters.log_rows;
  const unsigned log_domain = layout.log_size() - log_rows + parameters.log_inverse_rate;
  if (tensors.size() != layout.tensors().size()) {
    throw std::invalid_argument("commit_oracle: the oracle has " + std::to_string(layout.tensors().size()) +
                                " tensors, " + std::to_string(tensors.size()) + " given");
  }
  const RowRange rows = rows_of(log_rows, comm.rank(), comm.size());
  RawVector<F> data(rows.size() << log_domain);
  clear_gaps(layout, log_rows, log_domain, rows.size(), data);
  if (comm.size() == 1) {
    place_all(layout, log_rows, log_domain, tensors, data);
  } else {
    std::vector<std::vector<std::byte>> send;
    send.reserve(static_cast<std::size_t>(comm.size()));
    for (int rank = 0; rank < comm.size(); ++rank) {
      send.push_back(pack_rows(layout, log_rows, tensors, rows_of(log_rows, rank, comm.size()), comm));
    }
    place_rows(layout, log_rows, log_domain, tensors, rows, comm.all_to_all_bytes(send), data);
  }
  ntt(data, log_domain, rows.size(), parameters.log_inverse_rate);
  return {std::size_t{1} << log_rows,
          log_domain,
          first_column_of_rank(log_domain, comm.rank(), comm.size()),
          comm.size() == 1 ? std::move(data) : exchange_columns(std::move(data), log_rows, log_domain, comm),
          {}};
}

void hash_tree(Codeword& codeword, unsigned first_level, Communicator& comm) {
  std::vector<Digest> nodes = hash_columns(codeword.columns, codeword.leaf_values);
  for (unsigned level = 0; level < first_level; ++level) {
    nodes = merkle_parents(nodes);  // a rank's columns are whole groups of 2^upper_levels
  }
  codeword.levels.resize(first_level);
  for (std::vector<Digest>& level : merkle_levels(comm.all_gather<Digest>(nodes))) {
    codeword.levels.push_back(std::move(level));
  }
}

Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, Communicator& comm) {
  Codeword codeword = encode_columns(layout, parameters, tensors, comm);
  hash_tree(codeword, 0, comm);
  return codeword;
}

Codeword encode_vector(std::span<const E> vector, unsigned log_rows, unsigned log_inverse_rate) {
  const unsigned log_domain = ceil_log2(vector.size()) - log_rows + log_inverse_rate;
  const std::size_t width = std::size_t{1} << log_rows;
  Codeword codeword{2 * width, log_domain, 0, RawVector<F>((2 * width) << log_domain), {}};
#pragma omp parallel for schedule(static)
  for (std::size_t column = 0; column < vector.size() >> log_rows; ++column) {
    std::memcpy(static_cast<void*>(codeword.columns.data() + bit_reverse(column, log_domain) * 2 * width),
                vector.data() + column * width, width * sizeof(E));
  }
  ntt(codeword.columns, log_domain, 2 * width, log_inverse_rate);
  codeword.levels = merkle_levels(hash_columns(codeword.columns, codeword.leaf_values));
  return codeword;
}

}  // namespace tessera
