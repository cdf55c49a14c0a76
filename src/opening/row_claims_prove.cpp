#include <omp.h>

#include <algorithm>
#include "opening/matrix_columns.hpp"
#include "opening/row_claims.hpp"
#include "opening/weights.hpp"
#include "field/integer_products.hpp"
#include "field/scale_kernels.hpp"

namespace tessera {
namespace {

/// log2 of the rows of the band that a term is on.
unsigned log_rows_of(const CommittedOracle& oracle, const WeightTerm& term) {
  return oracle.parameters.band(term.band).log_rows;
}

/// Places of a tensor's list of held chunks, of which this rank works on all: they lie side by side in memory. Of one
/// with many columns: a part of these, of several.
struct Work {
  std::size_t term;
  Range held;
  std::size_t part = 0, parts = 1;
};

/// Parts of each of a tensor's chunks, so that threads have as much to do each: a part costs its chunk's weights.
std::size_t parts_of(std::size_t chunks, std::size_t columns) {
  const std::size_t wanted = 4 * static_cast<std::size_t>(omp_get_max_threads());
  return std::clamp<std::size_t>((wanted + chunks - 1) / chunks, 1,
                                 std::max<std::size_t>(1, columns / columns_of_part));
}

std::vector<Work> owned_work(std::span<const WeightTerm> terms, std::span<const CommittedOracle> oracles,
                             std::span<const OracleWitness> witnesses, const Communicator& comm) {
  std::vector<Work> work;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::visit(
        [&](const auto* tensor) {
          const std::vector<std::size_t>& held = tensor->held();
          const CommittedOracle& oracle = oracles[terms[i].oracle];
          const std::size_t columns = columns_of(tensor->shape().chunk_size(), log_rows_of(oracle, terms[i])).count;
          for (std::size_t place = 0; place < held.size(); ++place) {
            if (!counts(*tensor, held[place], comm) ||
                oracle.layout.band(terms[i].tensor, held[place]) != terms[i].band) {
              continue;
            }
            const std::size_t parts = parts_of(held.size(), columns);
            for (std::size_t part = 0; parts > 1 && part < parts; ++part) {
              work.push_back({i, {place, place + 1}, part, parts});
            }
            if (parts > 1) {
              continue;
            }
            if (work.empty() || work.back().term != i || work.back().held.last != place ||
                (work.back().held.size() + 1) * columns > columns_at_once) {
              work.push_back({i, {place, place}});
            }
            work.back().held.last = place + 1;
          }
        },
        witnesses[terms[i].oracle].tensors[terms[i].tensor]);
  }
  return work;
}

/// Weights of columns that are products.
struct ProductWeights {
  std::span<const E> leading, trailing;
};

/// sums[row] += sum_c leading[c / |trailing|] * trailing[c % |trailing|] * columns[c * |sums| + row]: first over the
/// longer of the two, so that few products are of elements of E.
template <class T>
void combine_columns(const ProductWeights& weights, std::span<const T> columns, std::span<E> sums) {
  const auto& [leading, trailing] = weights;
  const std::size_t width = trailing.size() * sums.size();
  if (leading.size() < trailing.size()) {
    std::vector<E> some(sums.size());
    for (std::size_t i = 0; i < leading.size(); ++i) {
      std::ranges::fill(some, E::zero());
      combine_integer_rows(trailing, columns.subspan(i * width, width), std::span(some));
      for (std::size_t row = 0; row < sums.size(); ++row) {
        sums[row] += leading[i] * some[row];
      }
    }
    return;
  }
  std::vector<E> some(width);
  combine_integer_rows(leading, columns, std::span(some));
  for (std::size_t c = 0; c < trailing.size(); ++c) {
    for (std::size_t row = 0; row < sums.size(); ++row) {
      sums[row] += trailing[c] * some[c * sums.size() + row];
    }
  }
}

/// Memory of a thread's earlier sums.
struct Scratch {
  ColumnWeights of_chunk;
  std::vector<E> weights;
  std::vector<E> sums;  // a row each
};

/// Leaves a part of a chunk's columns, and their weights: those of some of `leading`.
template <class T>
std::span<const T> take_part(ColumnWeights& weights, std::span<const T> columns, const Work& work) {
  const std::size_t count = weights.leading.size();
  const std::size_t first = count * work.part / work.parts, last = count * (work.part + 1) / work.parts;
  const std::size_t width = columns.size() / count;
  weights.leading.erase(weights.leading.begin() + static_cast<std::ptrdiff_t>(last), weights.leading.end());
  weights.leading.erase(weights.leading.begin(), weights.leading.begin() + static_cast<std::ptrdiff_t>(first));
  return columns.subspan(first * width, (last - first) * width);
}

/// Puts the weights of chunks, `columns` of each, behind others; whether any is not zero.
bool append_weights(RunWeights& weights, Range chunks, std::size_t columns, std::vector<E>& to) {
  bool any = false;
  for (std::size_t chunk = chunks.first; chunk < chunks.last;) {
    const std::size_t count = weights.run(chunk, chunks.last);
    const ColumnWeights& of_run = weights(chunk, count);
    any = any || !of_run.is_zero();
    const std::size_t end = to.size() + count * columns;
    of_run.append_to(to);
    to.resize(end);  // where all are zero none is written
    chunk += count;
  }
  return any;
}

/// The weighted sum of columns of a term's chunks, into scratch.sums.
template <class T>
void combine_chunks(const ChunkedTensor<T>& tensor, const Work& work, const WeightTerm& term, unsigned log_rows,
                    Scratch& scratch) {
  const Range held = work.held;
  const Shape& shape = tensor.shape();
  const ColumnCounts columns = columns_of(shape.chunk_size(), log_rows);
  const std::size_t first = tensor.held()[held.first];
  scratch.sums.assign(columns.rows, E::zero());
  scratch.of_chunk.kept = {};  // of another term
  if (held.size() == 1) {
    column_weights(shape, term.high, first, scratch.of_chunk);
    if (!scratch.of_chunk.is_zero()) {
      const std::span part = take_part(scratch.of_chunk, tensor.chunk(first), work);
      combine_columns({scratch.of_chunk.leading, scratch.of_chunk.trailing}, part, std::span(scratch.sums));
      for (E& sum : scratch.sums) {
        sum *= scratch.of_chunk.scale;
      }
    }
    return;
  }
  scratch.weights.clear();
  RunWeights weights(shape, term.high);
  bool any = false;
  for (std::size_t place = held.first; place < held.last;) {
    const std::size_t chunk = tensor.held()[place];
    std::size_t last = chunk + 1;
    while (place + (last - chunk) < held.last && tensor.held()[place + (last - chunk)] == last) {
      ++last;
    }
    any = append_weights(weights, {chunk, last}, columns.count, scratch.weights) || any;
    place += last - chunk;
  }
  if (any) {
    const std::span<const T> values(tensor.chunk(first).data(), held.size() << shape.inner_bits());
    combine_integer_rows(std::span<const E>(scratch.weights), values, std::span(scratch.sums));
  }
}

}  // namespace

namespace {

/// Which chunks have columns of a band, by these.
class BandColumns {
 public:
  struct Chunk {
    ChunkColumns columns;
    std::size_t tensor, chunk;
  };
  BandColumns(const CommittedOracle& oracle, std::size_t band) {
    for (std::size_t t = 0; t < oracle.layout.tensors().size(); ++t) {
      for (std::size_t chunk = 0; chunk < oracle.layout.tensors()[t].chunk_count(); ++chunk) {
        if (oracle.layout.band(t, chunk) == band) {
          chunks_.push_back({chunk_columns(oracle, t, chunk), t, chunk});
        }
      }
    }
    std::ranges::sort(chunks_, {}, [](const Chunk& chunk) { return chunk.columns.first; });
  }
  /// visit(chunk, the columns that it has of these)
  template <class Visit>
  void visit(Range columns, const Visit& visit) const {
    const auto end_of = [](const Chunk& chunk) { return chunk.columns.first + chunk.columns.count; };
    auto chunk = std::ranges::upper_bound(chunks_, columns.first, {}, end_of);
    for (; chunk != chunks_.end() && chunk->columns.first < columns.last; ++chunk) {
      visit(*chunk, Range{std::max(columns.first, chunk->columns.first), std::min(columns.last, end_of(*chunk))});
    }
  }

 private:
  std::vector<Chunk> chunks_;
};

/// What terms meet in other bands than their own: a term's weight on a column is on all of its rows once variables are
/// bound.
class OtherBands {
 public:
  OtherBands(std::span<const WeightTerm> terms, std::span<const CommittedOracle> oracles,
             std::span<const OracleWitness> witnesses, const Communicator& comm)
      : terms_(terms), oracles_(oracles), witnesses_(witnesses), comm_(comm), columns_(oracles.size()) {
    for (std::size_t j = 0; j < oracles.size(); ++j) {
      const std::size_t bands = oracles[j].parameters.band_count();
      for (std::size_t band = 0; bands > 1 && band < bands; ++band) {
        columns_[j].emplace_back(oracles[j], band);
      }
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (!columns_[terms[i].oracle].empty()) {
        add_work(i);
      }
    }
  }
  [[nodiscard]] std::size_t size() const { return work_.size(); }
  [[nodiscard]] std::size_t term(std::size_t number) const { return work_[number].term; }
  /// Adds weights times the columns of other bands that this rank owns.
  void add(std::size_t number, Scratch& scratch, std::span<E> sums) const {
    const auto& [i, chunks, own] = work_[number];
    const WeightTerm& term = terms_[i];
    const CommittedOracle& oracle = oracles_[term.oracle];
    const Shape& shape = oracle.layout.tensors()[term.tensor];
    scratch.weights.clear();
    if (chunks.size() == 1) {
      scratch.of_chunk.kept = {};
      column_weights(shape, term.high, chunks.first, scratch.of_chunk);
      if (scratch.of_chunk.is_zero()) {
        return;
      }
    } else {
      RunWeights weights(shape, term.high);
      if (!append_weights(weights, chunks, own.size() / chunks.size(), scratch.weights)) {
        return;
      }
    }
    for (std::size_t band = 0; band < oracle.parameters.band_count(); ++band) {
      if (band == term.band) {
        continue;
      }
      const RowBand rows = oracle.parameters.band(band);
      for (const ColumnRun& run : runs_of(term.oracle, band, own)) {
        std::visit(
            [&]<class T>(const ChunkedTensor<T>* tensor) {
              const std::size_t count = columns_of(tensor->shape().chunk_size(), rows.log_rows).rows;
              const std::span values(static_cast<const T*>(run.values), run.columns.size() * count);
              combine({run.columns.first - own.first, run.columns.last - own.first}, chunks.size() == 1, values,
                      scratch, sums.subspan(rows.first, count));
            },
            witnesses_[term.oracle].tensors[run.tensor]);
      }
    }
  }

 private:
  /// Chunks of a term whose columns lie side by side.
  struct Work {
    std::size_t term;
    Range chunks, columns;
  };
  /// Columns of a tensor's chunks that lie side by side, in memory too.
  struct ColumnRun {
    std::size_t tensor;
    Range columns;
    const void* values;
  };

  void add_work(std::size_t number) {
    const WeightTerm& term = terms_[number];
    const CommittedOracle& oracle = oracles_[term.oracle];
    for (std::size_t chunk = 0; chunk < oracle.layout.tensors()[term.tensor].chunk_count(); ++chunk) {
      if (oracle.layout.band(term.tensor, chunk) != term.band) {
        continue;
      }
      const ChunkColumns columns = chunk_columns(oracle, term.tensor, chunk);
      const bool goes_on = !work_.empty() && work_.back().term == number && work_.back().chunks.last == chunk &&
                           work_.back().columns.last == columns.first &&
                           work_.back().columns.size() + columns.count <= columns_at_once;
      if (!goes_on) {
        work_.push_back({number, {chunk, chunk}, {columns.first, columns.first}});
      }
      ++work_.back().chunks.last;
      work_.back().columns.last += columns.count;
    }
  }

  /// What a band has of some columns, of chunks that this rank owns.
  [[nodiscard]] std::vector<ColumnRun> runs_of(std::size_t oracle, std::size_t band, Range columns) const {
    const RowBand rows = oracles_[oracle].parameters.band(band);
    std::vector<ColumnRun> runs;
    columns_[oracle][band].visit(columns, [&](const BandColumns::Chunk& chunk, Range some) {
      std::visit(
          [&]<class T>(const ChunkedTensor<T>* tensor) {
            if (!counts(*tensor, chunk.chunk, comm_)) {
              return;
            }
            const T* const values =
                tensor->chunk(chunk.chunk).data() + ((some.first - chunk.columns.first) << rows.log_rows);
            const std::size_t count = columns_of(tensor->shape().chunk_size(), rows.log_rows).rows;
            if (!runs.empty() && runs.back().tensor == chunk.tensor && runs.back().columns.last == some.first &&
                static_cast<const T*>(runs.back().values) + runs.back().columns.size() * count == values) {
              runs.back().columns.last = some.last;
            } else {
              runs.push_back({chunk.tensor, some, values});
            }
          },
          witnesses_[oracle].tensors[chunk.tensor]);
    });
    return runs;
  }

  /// Adds some of the columns that `scratch` has weights of, as a product of a single chunk, times these.
  template <class T>
  static void combine(Range columns, bool is_product, std::span<const T> values, Scratch& scratch, std::span<E> sums) {
    const ColumnWeights& weights = scratch.of_chunk;
    const std::size_t run = weights.trailing.size();
    if (is_product && columns.first % run == 0 && columns.size() % run == 0) {
      scratch.sums.assign(sums.size(), E::zero());
      const std::span<const E> leading = std::span(weights.leading).subspan(columns.first / run, columns.size() / run);
      combine_columns({leading, weights.trailing}, values, std::span(scratch.sums));
      add_scaled(weights.scale, scratch.sums.data(), sums.size(), sums.data());
      return;
    }
    if (scratch.weights.empty()) {
      weights.append_to(scratch.weights);
    }
    combine_integer_rows(std::span<const E>(scratch.weights).subspan(columns.first, columns.size()), values, sums);
  }

  std::span<const WeightTerm> terms_;
  std::span<const CommittedOracle> oracles_;
  std::span<const OracleWitness> witnesses_;
  const Communicator& comm_;
  std::vector<std::vector<BandColumns>> columns_;  // by oracle and band; none where there is one
  std::vector<Work> work_;
};

}  // namespace

std::vector<std::vector<E>> combine_rows(std::span<const WeightTerm> terms, std::span<const CommittedOracle> oracles,
                                         std::span<const OracleWitness> witnesses, Communicator& comm) {
  std::vector<std::size_t> start{0};
  for (const WeightTerm& term : terms) {
    start.push_back(start.back() + (std::size_t{1} << oracles[term.oracle].parameters.log_rows));
  }
  const auto of_term = [&](std::span<E> sums, std::size_t term) {
    return sums.subspan(start[term], start[term + 1] - start[term]);
  };
  const std::vector<Work> work = owned_work(terms, oracles, witnesses, comm);
  const OtherBands others(terms, oracles, witnesses, comm);
  std::vector<E> sums(start.back());
#pragma omp parallel
  {
    std::vector<E> mine(start.back());
    Scratch scratch;
#pragma omp for schedule(dynamic, 1) nowait
    for (std::size_t w = 0; w < work.size(); ++w) {
      const WeightTerm& term = terms[work[w].term];
      const RowBand band = oracles[term.oracle].parameters.band(term.band);
      std::visit([&](const auto* tensor) { combine_chunks(*tensor, work[w], term, band.log_rows, scratch); },
                 witnesses[term.oracle].tensors[term.tensor]);
      const std::span<E> rows = of_term(mine, work[w].term).subspan(band.first);
      for (std::size_t i = 0; i < scratch.sums.size(); ++i) {
        rows[i] += scratch.sums[i];
      }
    }
#pragma omp for schedule(dynamic, 4)
    for (std::size_t w = 0; w < others.size(); ++w) {
      others.add(w, scratch, of_term(mine, others.term(w)));
    }
#pragma omp critical
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += mine[i];
    }
  }
  comm.all_reduce_sum(sums);
  std::vector<std::vector<E>> combined;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::span<const E> rows = of_term(sums, i);
    combined.emplace_back(rows.begin(), rows.end());
  }
  return combined;
}

}  // namespace tessera
