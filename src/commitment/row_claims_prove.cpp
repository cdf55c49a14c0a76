#include <algorithm>
#include <optional>
#include "commitment/row_claims.hpp"
#include "commitment/weights.hpp"
#include "field/integer_products.hpp"

namespace tessera {
namespace {

/// If head[2i] : head[2i+1] = 1-z : z for all i: z and the factor without that variable.
std::optional<Factor> peel(const Factor& factor) {
  const std::vector<E>& head = factor.head;
  std::size_t pivot = 0;
  while (pivot < head.size() && head[pivot] == E::zero() && head[pivot + 1] == E::zero()) {
    pivot += 2;
  }
  if (pivot == head.size() || head[pivot] + head[pivot + 1] == E::zero()) {
    return std::nullopt;
  }
  Factor result;
  result.head.clear();
  for (std::size_t i = 0; i < head.size(); i += 2) {
    if (head[i] * head[pivot + 1] != head[i + 1] * head[pivot]) {
      return std::nullopt;
    }
    result.head.push_back(head[i] + head[i + 1]);
  }
  result.tail.push_back(head[pivot + 1] * (head[pivot] + head[pivot + 1]).inverse());
  result.tail.insert(result.tail.end(), factor.tail.begin(), factor.tail.end());
  return result;
}

/// Factors that add up to `factor`, each with at least `low` variables in its tail.
std::vector<Factor> expand(const Factor& factor, std::size_t low) {
  if (std::ranges::all_of(factor.head, [](const E& entry) { return entry == E::zero(); })) {
    return {};
  }
  if (factor.tail.size() >= low) {
    return {factor};
  }
  if (const std::optional<Factor> peeled = peel(factor)) {
    return expand(*peeled, low);
  }
  std::vector<Factor> result;
  for (std::size_t bit = 0; bit < 2; ++bit) {
    Factor half{{}, {bit == 0 ? E::zero() : E::one()}};
    half.tail.insert(half.tail.end(), factor.tail.begin(), factor.tail.end());
    for (std::size_t i = bit; i < factor.head.size(); i += 2) {
      half.head.push_back(factor.head[i]);
    }
    const std::vector<Factor> parts = expand(half, low);
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

/// Matrix columns of a chunk: how many, and how many of their rows are values (the rest is padding).
struct ChunkColumns {
  std::size_t count;
  std::size_t rows;
};

ChunkColumns columns_of(std::size_t chunk_size, unsigned log_rows) {
  const std::size_t width = std::size_t{1} << log_rows;
  return chunk_size < width ? ChunkColumns{1, chunk_size} : ChunkColumns{chunk_size >> log_rows, width};
}

template <class T>
bool counts(const ChunkedTensor<T>& tensor, std::size_t chunk, const Communicator& comm) {
  return tensor.ownership().owner(tensor.shape(), chunk, comm.size()) == comm.rank();
}

struct Work {
  std::size_t term;
  std::size_t chunk;
};

std::vector<Work> owned_work(std::span<const WeightTerm> terms, std::span<const OracleWitness> witnesses,
                             const Communicator& comm) {
  std::vector<Work> work;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::visit(
        [&](const auto* tensor) {
          for (const std::size_t chunk : tensor->held()) {
            if (counts(*tensor, chunk, comm)) {
              work.push_back({i, chunk});
            }
          }
        },
        witnesses[terms[i].oracle].tensors[terms[i].tensor]);
  }
  return work;
}

/// sums[row] += sum_c leading[c / |trailing|] * trailing[c % |trailing|] * columns[c * |sums| + row]: first over the
/// longer of the two, so that few products are of elements of E.
template <class T>
void combine_columns(const ColumnWeights& weights, std::span<const T> columns, std::span<E> sums) {
  const std::vector<E>& leading = weights.leading;
  const std::vector<E>& trailing = weights.trailing;
  const std::size_t width = trailing.size() * sums.size();
  if (leading.size() < trailing.size()) {
    std::vector<E> some(sums.size());
    for (std::size_t i = 0; i < leading.size(); ++i) {
      std::ranges::fill(some, E::zero());
      combine_integer_rows(std::span<const E>(trailing), columns.subspan(i * width, width), std::span(some));
      for (std::size_t row = 0; row < sums.size(); ++row) {
        sums[row] += leading[i] * some[row];
      }
    }
    return;
  }
  std::vector<E> some(width);
  combine_integer_rows(std::span<const E>(leading), columns, std::span(some));
  for (std::size_t c = 0; c < trailing.size(); ++c) {
    for (std::size_t row = 0; row < sums.size(); ++row) {
      sums[row] += trailing[c] * some[c * sums.size() + row];
    }
  }
}

}  // namespace

std::vector<WeightTerm> weight_terms(const Shape& shape, const LinearForm& claim, std::size_t oracle,
                                     unsigned log_rows) {
  const std::vector<unsigned> low = low_bits_of_dimensions(shape, std::min(log_rows, shape.inner_bits()));
  WeightTerm start{oracle, claim.tensor, {}, {}};
  start.row_point.resize(log_rows - std::min(log_rows, shape.inner_bits()));  // padding variables are 0
  std::vector<WeightTerm> terms{std::move(start)};
  for (std::size_t d = 0; d < claim.weight.size(); ++d) {
    std::vector<WeightTerm> product;
    for (Factor factor : expand(claim.weight[d], low[d])) {
      const Point point(factor.tail.end() - low[d], factor.tail.end());
      factor.tail.resize(factor.tail.size() - low[d]);
      const std::vector<E> table = factor.table();
      for (const WeightTerm& term : terms) {
        product.push_back(term);
        product.back().row_point.insert(product.back().row_point.end(), point.begin(), point.end());
        product.back().high.push_back(table);
      }
    }
    terms = std::move(product);
  }
  return terms;
}

ColumnWeights column_weights(const Shape& shape, std::span<const std::vector<E>> high, std::size_t chunk) {
  ColumnWeights result;
  for (std::size_t d = 0; d < high.size(); ++d) {
    const std::size_t size = high[d].size() >> shape.dimensions()[d].outer_bits();
    const std::span<const E> part = std::span(high[d]).subspan(shape.coordinate(chunk, d) * size, size);
    if (std::ranges::all_of(part, [](const E& entry) { return entry == E::zero(); })) {
      return {E::zero(), {}, {}};
    }
    if (size == 1) {
      result.scale *= part[0];
      continue;
    }
    if (result.leading.size() == 1) {
      result.leading = std::move(result.trailing);
    } else {
      result.leading = outer_product(result.leading, result.trailing);
    }
    result.trailing.assign(part.begin(), part.end());
  }
  return result;
}

std::vector<std::vector<E>> combine_rows(std::span<const WeightTerm> terms, std::span<const OracleWitness> witnesses,
                                         std::span<const unsigned> log_rows, Communicator& comm) {
  std::vector<std::size_t> start{0};
  for (const WeightTerm& term : terms) {
    start.push_back(start.back() + (std::size_t{1} << log_rows[term.oracle]));
  }
  const std::vector<Work> work = owned_work(terms, witnesses, comm);
  std::vector<E> sums(start.back());
#pragma omp parallel
  {
    std::vector<E> mine(start.back());
#pragma omp for schedule(dynamic, 4)
    for (std::size_t w = 0; w < work.size(); ++w) {
      const WeightTerm& term = terms[work[w].term];
      std::visit(
          [&](const auto* tensor) {
            const ColumnWeights weights = column_weights(tensor->shape(), term.high, work[w].chunk);
            if (weights.size() == 0) {
              return;
            }
            const auto values = tensor->chunk(work[w].chunk);
            std::vector<E> chunk_sums(columns_of(values.size(), log_rows[term.oracle]).rows);
            combine_columns(weights, values, std::span(chunk_sums));
            for (std::size_t i = 0; i < chunk_sums.size(); ++i) {
              mine[start[work[w].term] + i] += weights.scale * chunk_sums[i];
            }
          },
          witnesses[term.oracle].tensors[term.tensor]);
    }
#pragma omp critical
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += mine[i];
    }
  }
  comm.all_reduce_sum(sums);
  std::vector<std::vector<E>> combined;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    combined.emplace_back(sums.begin() + static_cast<std::ptrdiff_t>(start[i]),
                          sums.begin() + static_cast<std::ptrdiff_t>(start[i + 1]));
  }
  return combined;
}

std::size_t chunk_columns(const Shape& shape, unsigned log_rows) {
  return columns_of(shape.chunk_size(), log_rows).count;
}

void bind_rows(const OracleWitness& witness, std::span<const E> weights, const Communicator& comm,
               const std::function<std::span<E>(std::size_t tensor, std::size_t chunk)>& place) {
  const unsigned log_rows = ceil_log2(weights.size());
  for (std::size_t t = 0; t < witness.tensors.size(); ++t) {
    std::visit(
        [&](const auto* tensor) {
          const ChunkColumns columns = columns_of(tensor->shape().chunk_size(), log_rows);
#pragma omp parallel for schedule(dynamic, 4)
          for (const std::size_t chunk : tensor->held()) {
            if (counts(*tensor, chunk, comm)) {
              dot_integer_rows(weights.first(columns.rows), tensor->chunk(chunk), place(t, chunk));
            }
          }
        },
        witness.tensors[t]);
  }
}

}  // namespace tessera
