#include <cstring>
#include <stdexcept>
#include "opening/first_vector.hpp"
#include "opening/row_claims.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// log2 of the columns of a class that are worth a message, and that opened columns are computed from.
constexpr unsigned min_log_columns = 7;
/// log2 of the least number of columns with which a vector after v_0 is shared by ranks.
constexpr unsigned min_log_later_columns = 10;

/// visit(oracle, tensor, chunk, owner, columns) in an order that all ranks have.
template <class Visit>
void for_chunks(std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                const Communicator& comm, const Visit& visit) {
  for (std::size_t j = 0; j < witnesses.size(); ++j) {
    for (std::size_t t = 0; t < witnesses[j].tensors.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
            for (std::size_t chunk = 0; chunk < tensor->shape().chunk_count(); ++chunk) {
              visit(j, t, chunk, tensor->ownership().owner(tensor->shape(), chunk, comm.size()),
                    chunk_columns(oracles[j], t, chunk));
            }
          },
          witnesses[j].tensors[t]);
    }
  }
}

/// The values of the chunks that this rank owns, one chunk after the other in for_chunks() order.
ZeroedVector<E> owned_values(std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                             const BoundVariables& bound, const Communicator& comm) {
  std::vector<std::vector<std::vector<std::size_t>>> start(witnesses.size());  // of a chunk, by oracle and tensor
  std::size_t size = 0;
  for_chunks(oracles, witnesses, comm, [&](std::size_t j, std::size_t t, std::size_t, int owner, ChunkColumns columns) {
    start[j].resize(witnesses[j].tensors.size());
    start[j][t].push_back(size);
    size += owner == comm.rank() ? columns.count : 0;
  });
  ZeroedVector<E> values(size);
  for (std::size_t j = 0; j < witnesses.size(); ++j) {
    const std::vector<E> weights = eq_table(bound.row_point(oracles[j].parameters.log_rows));
    bind_rows(oracles[j], witnesses[j], weights, comm, [&](std::size_t t, std::size_t chunk) {
      return std::span(values).subspan(start[j][t][chunk], chunk_columns(oracles[j], t, chunk).count);
    });
  }
  return values;
}

}  // namespace

ResidueShares shares_of_first_vector(const OpeningSchedule& schedule, const Communicator& comm) {
  const unsigned log_columns = schedule.log_vector - std::min(schedule.log_vector, OpeningSchedule::folding);
  const ResidueShares shares(log_columns, comm.rank(), comm.size());
  bool large = !schedule.vectors.empty() && shares.log_size() >= min_log_columns;
  for (const CommittedWord& word : schedule.oracles) {
    large = large && word.offset % (std::size_t{1} << (OpeningSchedule::folding + shares.log_count())) == 0 &&
            word.log_columns >= OpeningSchedule::folding + shares.log_count();
  }
  return large ? shares : ResidueShares(log_columns, 0, 1);
}

namespace {

/// Entries that rounds over all rows bind in pairs of pairs.
constexpr std::size_t unit_of_rounds = 4 * folded_rows;

std::size_t whole_units(std::uint64_t entries, std::size_t unit) { return (entries + unit - 1) / unit * unit; }

/// How many entries a rank has of a vector that is zero from `used` on.
std::size_t share_size(std::uint64_t used, const ResidueShares& columns) {
  const std::size_t all = columns.size() * folded_rows;
  if (columns.mine().size() != 1 ||
      std::size_t{1} << columns.log_count() != static_cast<std::size_t>(columns.ranks())) {
    return all;
  }
  // no more of the zeros than rounds bind, of each class as many
  return std::min(all, whole_units(used, unit_of_rounds << columns.log_count()) >> columns.log_count());
}

}  // namespace

std::size_t share_size(const OpeningSchedule& schedule, const ResidueShares& columns) {
  return schedule.vectors.empty() ? std::size_t{1} << schedule.log_vector : share_size(schedule.table_size(0), columns);
}

ZeroedVector<E> first_vector(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                             std::span<const OracleWitness> witnesses, const BoundVariables& bound,
                             const ResidueShares& columns, Communicator& comm) {
  ZeroedVector<E> vector(share_size(schedule, columns));
  if (columns.log_count() == 0) {
    for (std::size_t j = 0; j < oracles.size(); ++j) {
      const CommittedWord& word = schedule.oracles[j];
      const std::vector<E> weights = eq_table(bound.row_point(word.log_rows));
      bind_rows(oracles[j], witnesses[j], weights, comm, [&](std::size_t t, std::size_t chunk) {
        const ChunkColumns taken = chunk_columns(oracles[j], t, chunk);
        return std::span(vector).subspan(word.offset + taken.first, taken.count);
      });
    }
    if (comm.size() > 1) {
      comm.all_reduce_sum(vector);
    }
    return vector;
  }
  std::vector<MessageBytes> send(static_cast<std::size_t>(comm.size()));
  {
    const ZeroedVector<E> owned = owned_values(oracles, witnesses, bound, comm);
    auto value = owned.begin();
    for_chunks(oracles, witnesses, comm, [&](std::size_t j, std::size_t, std::size_t, int owner, ChunkColumns chunk) {
      const std::size_t first = schedule.oracles[j].offset + chunk.first;
      for (std::size_t i = first; owner == comm.rank() && i < first + chunk.count; ++i, ++value) {
        const auto bytes = std::as_bytes(std::span(&*value, 1));
        MessageBytes& to = send[static_cast<std::size_t>(columns.owner(i / folded_rows))];
        to.insert(to.end(), bytes.begin(), bytes.end());
      }
    });
  }
  const std::vector<MessageBytes> received = comm.all_to_all_bytes(std::move(send));
  std::vector<std::size_t> read(received.size(), 0);
  for_chunks(oracles, witnesses, comm, [&](std::size_t j, std::size_t, std::size_t, int owner, ChunkColumns chunk) {
    const std::size_t first = schedule.oracles[j].offset + chunk.first;
    const auto source = static_cast<std::size_t>(owner);
    for (std::size_t i = first; i < first + chunk.count; ++i) {
      if (columns.mine().contains(columns.class_of(i / folded_rows))) {
        if (read[source] + sizeof(E) > received[source].size()) {
          throw std::runtime_error("opening: ranks disagree on who owns which chunk");
        }
        E value;
        std::memcpy(static_cast<void*>(&value), received[source].data() + read[source], sizeof(E));
        vector[columns.own_place(i / folded_rows) * folded_rows + i % folded_rows] += value;  // of several bands
        read[source] += sizeof(E);
      }
    }
  });
  return vector;
}

VectorSummand::VectorSummand(ZeroedVector<E> values, ZeroedVector<E> weights, ResidueShares columns, Communicator& comm)
    : columns_(columns),
      comm_(comm),
      products_(round_kernel(ProductRelation{}),
                {DenseTable::of(std::move(values)), DenseTable::of(std::move(weights))}) {}

ResidueShares VectorSummand::columns(unsigned log_columns) const {
  return shared() ? columns_ : ResidueShares(log_columns, 0, 1);
}

RoundSums VectorSummand::reduced(RoundSums sums) {
  if (shared()) {
    comm_.all_reduce_sum(std::span(sums).first(degree() + 1));
  }
  return sums;
}

DenseTable VectorSummand::distributed(const DenseTable& mine, const ResidueShares& columns, std::size_t size) const {
  const SharedBytes all = comm_.gather_shared(std::as_bytes(std::span<const E>(mine.span())));
  const std::size_t present = mine.size / columns_.mine().size();  // of each class, the same on every rank
  RawVector<E> values(size);
  const std::size_t column_rows = columns.log_indices() == columns_.log_indices() ? 1 : folded_rows;
  const std::size_t of_class = size / column_rows / columns.mine().size();
  auto to = values.begin();
  for (std::size_t number = columns.mine().first; number < columns.mine().last; ++number) {
    for (std::size_t place = 0; place < of_class; ++place) {
      const std::size_t first = (number + (place << columns.log_count())) * column_rows;
      for (std::size_t index = first; index < first + column_rows; ++index, ++to) {
        const std::size_t from = index >> columns_.log_count();
        *to = E::zero();
        if (from < present) {
          std::memcpy(static_cast<void*>(&*to), all.data() + (columns_.class_of(index) * present + from) * sizeof(E),
                      sizeof(E));
        }
      }
    }
  }
  return DenseTable::of(std::move(values));
}

void VectorSummand::distribute(const ResidueShares& columns, std::size_t size) {
  std::vector<DenseTable> tables;
  for (const std::size_t table : {0, 1}) {
    tables.push_back(distributed(products_.table(table), columns, size));
  }
  products_ = DenseSummand(round_kernel(ProductRelation{}), std::move(tables));
  columns_ = columns;
}

void VectorSummand::extend(std::size_t size) {
  if (values().size >= size) {
    return;
  }
  std::vector<DenseTable> tables;
  for (const std::size_t table : {0, 1}) {
    RawVector<E> longer(size);
    std::fill(std::ranges::copy(products_.table(table).span(), longer.begin()).out, longer.end(), E::zero());
    tables.push_back(DenseTable::of(std::move(longer)));
  }
  products_ = DenseSummand(round_kernel(ProductRelation{}), std::move(tables));
}

void VectorSummand::next(std::uint64_t used) {
  if (!shared()) {
    return extend(whole_units(used, unit_of_rounds));
  }
  const unsigned log_columns = columns_.log_indices() - std::min(columns_.log_indices(), OpeningSchedule::folding);
  const ResidueShares next(log_columns, comm_.rank(), comm_.size());
  if (log_columns < min_log_later_columns || next.log_size() < min_log_columns) {
    return gather(columns_.log_indices());
  }
  distribute(next, share_size(used, next));
}

void VectorSummand::gather(unsigned log_size) {
  const std::size_t size = std::size_t{1} << log_size;
  if (shared()) {
    distribute(ResidueShares(log_size, 0, 1), size);
  } else {
    extend(size);
  }
}

}  // namespace tessera
