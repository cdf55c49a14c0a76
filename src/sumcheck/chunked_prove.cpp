#include <cassert>

#include "base/shares.hpp"
#include "sumcheck/chunked.hpp"

namespace tessera {
namespace {

/// Fewer pairs are summed by one thread: waking another one takes some 50 microseconds.
constexpr std::size_t least_parallel_pairs = 4096;

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
  const EqIndices outer_weights(at.empty() ? at : at.first(shape.outer_bits()));
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (ownership.owner(shape, chunk, comm.size()) == comm.rank()) {
      owned_.push_back(chunk);
      chunk_weights_.push_back(at.empty() ? E::one() : outer_weights(shape.outer_index(chunk)));
    }
  }
  values_.resize(owned_.size() * kernel_.factors * shape.chunk_size());
  for (std::size_t i = 0; i < owned_.size() * kernel_.factors; ++i) {
    tables_.push_back(values_.data() + i * shape.chunk_size());
  }
}

template <class Body>
RoundSums ChunkedSummand::sum_chunks(std::size_t pairs, const Body& chunk_sums) {
  RoundSums sums{};
#pragma omp parallel if (owned_.size() * pairs > least_parallel_pairs)
  {
    RoundSums mine{};
#pragma omp for schedule(dynamic, share_of(owned_.size())) nowait
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      const RoundSums chunk = chunk_sums(i);
      for (std::size_t x = 0; x <= kernel_.degree; ++x) {
        mine[x] += chunk_weights_[i] * chunk[x];
      }
    }
#pragma omp critical(tessera_chunk_sums)
    sums += mine;
  }
  comm_.all_reduce_sum(std::span(sums).first(kernel_.degree + 1));
  return sums;
}

RoundWeights ChunkedSummand::weights() const {
  return at_.empty() ? RoundWeights{} : RoundWeights(at_.subspan(shape_.outer_bits(), inner_ - 1));
}

void ChunkedSummand::fill(std::size_t i) {
  for (std::size_t k = 0; k < kernel_.factors; ++k) {
    fill_chunk(factors_[k], owned_[i], std::span(tables(i)[k], shape_.chunk_size()));
  }
}

RoundSums ChunkedSummand::first(bool with_one) {
  if (inner_ == 0) {
    return outer().first(with_one);
  }
  const RoundWeights round_weights = weights();
  const std::size_t pairs = std::size_t{1} << (inner_ - 1);
  return sum_chunks(pairs, [&](std::size_t i) {
    fill(i);  // here, because then the values are in a cache
    return kernel_.run({tables(i), pairs, round_weights, 0, with_one});
  });
}

void ChunkedSummand::shorten() {
  if (short_ || inner_ > ShortChunks::most_variables || owned_.size() < ShortChunks::least_chunks ||
      (at_.empty() && !kernel_.homogeneous)) {
    return;
  }
  short_.emplace(kernel_, tables_, at_.empty() ? std::span<const E>() : chunk_weights_, inner_);
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
  const RoundWeights round_weights = weights();
  const std::size_t pairs = std::size_t{1} << (inner_ - 1);
  return sum_chunks(pairs, [&](std::size_t i) {
    return kernel_.run({tables(i), pairs, round_weights, 0, with_one, tables(i), challenge});
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
  for (E* table : tables_) {
    bind_lowest(table, table, std::size_t{1} << inner_, challenge);
  }
}

DenseSummand& ChunkedSummand::outer() {
  if (outer_) {
    return *outer_;
  }
  if (shape_.inner_bits() == 0) {
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      fill(i);
    }
  }
  std::vector<DenseTable> outer_tables;
  for (std::size_t k = 0; k < kernel_.factors; ++k) {
    std::optional<std::vector<E>> table = outer_table(factors_[k], inner_point_, comm_);
    if (!table) {
      table.emplace(std::size_t{1} << shape_.outer_bits());
      for (std::size_t i = 0; i < owned_.size(); ++i) {
        (*table)[shape_.outer_index(owned_[i])] = value(i, k);
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
