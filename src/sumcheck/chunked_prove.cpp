#include <algorithm>
#include <cassert>

#include "base/shares.hpp"
#include "sumcheck/chunked.hpp"

namespace tessera {
namespace {

/// Fewer pairs are summed by one thread: waking another one takes some 50 microseconds.
constexpr std::size_t least_parallel_pairs = 4096;
/// log2 of the values of a factor that a kernel takes at a time, more if a chunk has more: those of all factors stay in
/// a core's cache between what makes them and what sums them.
constexpr unsigned log_run_values = 11;

/// log2 of the chunks from `first` on that are neighbours on the outer cube and begin at a multiple of their number.
unsigned log_neighbours(const Shape& shape, std::span<const std::size_t> chunks, std::size_t first, unsigned most) {
  const std::size_t place = shape.outer_index(chunks[first]);
  const auto are = [&](unsigned log_count) {
    const std::size_t count = std::size_t{1} << log_count;
    return place % count == 0 && count <= chunks.size() - first &&
           shape.outer_index(chunks[first + count - 1]) == place + count - 1;
  };
  unsigned log_chunks = 0;
  while (log_chunks < most && are(log_chunks + 1)) {
    ++log_chunks;
  }
  return log_chunks;
}

}  // namespace

ChunkedSummand::ChunkedSummand(RoundKernel kernel, const Shape& shape, const Ownership& ownership,
                               std::span<const ChunkedFactor> factors, std::span<const E> at, Communicator& comm)
    : kernel_(std::move(kernel)),
      shape_(shape),
      factors_(factors),
      at_(at),
      comm_(comm),
      inner_(shape.inner_bits()),
      inner_point_(shape.inner_bits()) {
  assert(factors.size() == kernel_.factors && kernel_.degree <= max_degree && kernel_.factors <= max_factors);
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (ownership.owner(shape, chunk, comm.size()) == comm.rank()) {
      owned_.push_back(chunk);
    }
  }
  values_.resize(owned_.size() * kernel_.factors * shape.chunk_size());
  const unsigned most = std::min(shape.outer_bits(), log_run_values - std::min(log_run_values, inner_));
  std::vector<EqIndices> shared;  // beta of the outer variables but the lowest 0, 1, ..
  for (unsigned log_chunks = 0; !at.empty() && log_chunks <= most; ++log_chunks) {
    shared.emplace_back(at.first(shape.outer_bits() - log_chunks));
  }
  for (std::size_t first = 0; first < owned_.size(); first += runs_.back().chunks()) {
    const unsigned log_chunks = log_neighbours(shape, owned_, first, most);
    for (std::size_t k = 0; k < kernel_.factors; ++k) {
      tables_.push_back(values_.data() + (first * kernel_.factors + (k << log_chunks)) * shape.chunk_size());
    }
    const E weight = at.empty() ? E::one() : shared[log_chunks](shape.outer_index(owned_[first]) >> log_chunks);
    runs_.push_back({first, log_chunks, weight});
  }
}

template <class Body>
RoundSums ChunkedSummand::sum_runs(const Body& body) {
  unsigned most = 0;
  for (const Run& run : runs_) {
    most = std::max(most, run.log_chunks);
  }
  std::vector<RoundWeights> weights(most + 1);  // by the number of chunks
  for (unsigned log_chunks = 0; !at_.empty() && log_chunks <= most; ++log_chunks) {
    weights[log_chunks] = RoundWeights(at_.subspan(shape_.outer_bits() - log_chunks, log_chunks + inner_ - 1));
  }
  const std::size_t pairs = std::size_t{1} << (inner_ - 1);  // of a chunk
  RoundSums sums{};
#pragma omp parallel if (owned_.size() * pairs > least_parallel_pairs)
  {
    RoundSums mine{};
#pragma omp for schedule(dynamic, share_of(runs_.size())) nowait
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const Run& run = runs_[i];
      const RoundSums of_run = body(i, pairs << run.log_chunks, weights[run.log_chunks]);
      for (std::size_t x = 0; x <= kernel_.degree; ++x) {
        mine[x] += run.weight * of_run[x];
      }
    }
#pragma omp critical(tessera_chunk_sums)
    sums += mine;
  }
  comm_.all_reduce_sum(std::span(sums).first(kernel_.degree + 1));
  return sums;
}

void ChunkedSummand::fill(std::size_t run) {
  const std::size_t size = shape_.chunk_size();
  for (std::size_t k = 0; k < kernel_.factors; ++k) {
    for (std::size_t i = 0; i < runs_[run].chunks(); ++i) {
      fill_chunk(factors_[k], owned_[runs_[run].first + i], std::span(tables(run)[k] + i * size, size));
    }
  }
}

RoundSums ChunkedSummand::first(bool with_one) {
  if (inner_ == 0) {
    return outer().first(with_one);
  }
  return sum_runs([&](std::size_t run, std::size_t pairs, const RoundWeights& weights) {
    fill(run);  // here, because then the values are in a cache
    return kernel_.run({tables(run), pairs, weights, 0, with_one});
  });
}

void ChunkedSummand::shorten() {
  if (short_ || inner_ > ShortChunks::most_variables || owned_.size() < ShortChunks::least_chunks ||
      (at_.empty() && !kernel_.homogeneous)) {
    return;
  }
  std::vector<E*> tables_of_chunks;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (std::size_t i = 0; i < runs_[run].chunks(); ++i) {
      for (std::size_t k = 0; k < kernel_.factors; ++k) {
        tables_of_chunks.push_back(tables(run)[k] + (i << inner_));
      }
    }
  }
  if (!at_.empty()) {
    const EqIndices weight(at_.first(shape_.outer_bits()));
    for (const std::size_t chunk : owned_) {
      chunk_weights_.push_back(weight(shape_.outer_index(chunk)));
    }
  }
  short_.emplace(kernel_, tables_of_chunks, chunk_weights_, inner_);
  tables_ = {};
  values_ = {};
}

RoundSums ChunkedSummand::bind(E challenge, bool with_one) {
  if (outer_) {
    return outer_->bind(challenge, with_one);
  }
  if (inner_ == 1) {
    end(challenge);
    return outer().first(with_one);
  }
  shorten();
  inner_point_[--inner_] = challenge;
  if (short_) {
    RoundSums sums =
        short_->bind(challenge, with_one, at_.empty() ? at_ : at_.subspan(shape_.outer_bits(), inner_ - 1));
    comm_.all_reduce_sum(std::span(sums).first(kernel_.degree + 1));
    return sums;
  }
  return sum_runs([&](std::size_t run, std::size_t pairs, const RoundWeights& weights) {
    return kernel_.run({tables(run), pairs, weights, 0, with_one, tables(run), challenge});
  });
}

void ChunkedSummand::end(E challenge) {
  if (outer_) {
    outer_->end(challenge);
    return;
  }
  inner_point_[--inner_] = challenge;
  if (short_) {
    short_->end(challenge);
    return;
  }
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (std::size_t k = 0; k < kernel_.factors; ++k) {
      bind_lowest(tables(run)[k], tables(run)[k], runs_[run].chunks() << inner_, challenge);
    }
  }
}

DenseSummand& ChunkedSummand::outer() {
  if (outer_) {
    return *outer_;
  }
  if (shape_.inner_bits() == 0) {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      fill(run);
    }
  }
  std::vector<DenseTable> outer_tables;
  for (std::size_t k = 0; k < kernel_.factors; ++k) {
    std::optional<std::vector<E>> table = outer_table(factors_[k], inner_point_, comm_);
    if (!table) {
      table.emplace(std::size_t{1} << shape_.outer_bits());
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        for (std::size_t i = 0; i < runs_[run].chunks(); ++i) {
          const std::size_t chunk = runs_[run].first + i;
          (*table)[shape_.outer_index(owned_[chunk])] = short_ ? short_->value(chunk, k) : tables(run)[k][i];
        }
      }
      comm_.all_reduce_sum(*table);
    }
    outer_tables.push_back(DenseTable::of(std::move(*table)));
  }
  return outer_.emplace(kernel_, std::move(outer_tables), at_.empty() ? at_ : at_.first(shape_.outer_bits()));
}

std::vector<E> ChunkedSummand::values() { return outer().values(); }

ProvenSumcheck prove_chunked_sumcheck(ProverTranscript& transcript, const RoundKernel& kernel, const Shape& shape,
                                      const Ownership& ownership, std::span<const ChunkedFactor> factors,
                                      std::span<const E> at, Communicator& comm) {
  ChunkedSummand summand(kernel, shape, ownership, factors, at, comm);
  Point point = prove_rounds(transcript, summand, shape.bits(), at);
  return {std::move(point), summand.values()};
}

}  // namespace tessera
