#include <algorithm>
#include <iterator>
#include <optional>

#include "field/scale_kernels.hpp"
#include "opening/row_claims.hpp"
#include "opening/weights.hpp"

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

/// The terms of a claim on a tensor's chunks in a band of 2^log_rows rows.
std::vector<WeightTerm> band_terms(const Shape& shape, const LinearForm& claim, std::size_t oracle, std::size_t band,
                                   unsigned log_rows) {
  const std::vector<unsigned> low = low_bits_of_dimensions(shape, std::min(log_rows, shape.inner_bits()));
  WeightTerm start{oracle, claim.tensor, band, {}, {}};
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

}  // namespace

std::vector<WeightTerm> weight_terms(const CommittedOracle& oracle, const LinearForm& claim, std::size_t number) {
  const Shape& shape = oracle.layout.tensors()[claim.tensor];
  std::vector<WeightTerm> terms;
  for (const std::size_t band : oracle.layout.bands(claim.tensor)) {
    std::ranges::move(band_terms(shape, claim, number, band, oracle.parameters.band(band).log_rows),
                      std::back_inserter(terms));
  }
  return terms;
}

void column_weights(const Shape& shape, std::span<const std::vector<E>> high, std::size_t chunk,
                    ColumnWeights& weights) {
  const std::size_t last = high.size() - 1;
  const auto part_of = [&](std::size_t d) {
    const std::size_t size = high[d].size() >> shape.dimensions()[d].outer_bits();
    return std::span(high[d]).subspan(shape.coordinate(chunk, d) * size, size);
  };
  ColumnWeights::Kept& kept = weights.kept;
  const std::size_t rest_of = shape.outer_index(chunk) >> shape.dimensions()[last].outer_bits();
  const std::span<const E> last_part = part_of(last);
  if (last_part.size() == 1 && !shape.is_divided() && kept.rest_of == rest_of) {
    weights.scale = kept.rest * last_part[0];
    return;
  }
  kept.rest = E::one();
  std::size_t tables_of = 0;
  for (std::size_t d = 0; d <= last; ++d) {
    const std::span<const E> part = part_of(d);
    if (part.size() > 1) {
      tables_of = (tables_of << shape.dimensions()[d].outer_bits()) + shape.coordinate(chunk, d);
    } else if (d < last) {
      kept.rest *= part[0];
    }
  }
  kept.rest_of = rest_of;
  weights.scale = last_part.size() == 1 ? kept.rest * last_part[0] : kept.rest;
  if (kept.tables_of == tables_of) {
    return;
  }
  kept.tables_of = tables_of;
  weights.leading.assign(1, E::one());
  weights.trailing.assign(1, E::one());
  for (std::size_t d = 0; d <= last; ++d) {
    const std::span<const E> part = part_of(d);
    if (part.size() == 1) {
      continue;
    }
    if (std::ranges::all_of(part, [](const E& entry) { return entry == E::zero(); })) {
      weights.trailing.clear();
      return;
    }
    if (weights.leading.size() == 1) {
      std::swap(weights.leading, weights.trailing);
    } else {
      weights.leading = outer_product(weights.leading, weights.trailing);
    }
    weights.trailing.assign(part.begin(), part.end());
  }
}

void ColumnWeights::append_to(std::vector<E>& weights) const {
  std::size_t place = weights.size();
  weights.resize(place + size());
  if (is_zero()) {
    return;
  }
  for (const E& first : leading) {
    tessera::scale(scale * first, trailing.data(), trailing.size(), weights.data() + place);
    place += trailing.size();
  }
}

RunWeights::RunWeights(const Shape& shape, std::span<const std::vector<E>> high)
    : shape_(shape),
      high_(high),
      one_entry_(high.back().size() == std::size_t{1} << shape.dimensions().back().outer_bits()) {}

std::size_t RunWeights::run(std::size_t chunk, std::size_t last) const {
  std::size_t end = chunk + 1;
  while (one_entry_ && end < last && shape_.goes_on(end)) {
    ++end;
  }
  return end - chunk;
}

const ColumnWeights& RunWeights::operator()(std::size_t chunk, std::size_t count) {
  column_weights(shape_, high_, chunk, of_chunk_);
  if (count == 1) {
    return of_chunk_;
  }
  const std::size_t last = high_.size() - 1;
  const std::span<const E> factors = std::span(high_[last]).subspan(shape_.coordinate(chunk, last), count);
  const bool any = std::ranges::any_of(factors, [](const E& factor) { return factor != E::zero(); });
  of_run_.scale = any ? of_chunk_.kept.rest : E::zero();
  of_run_.trailing = of_chunk_.trailing;
  of_run_.leading.assign(factors.begin(), factors.end());
  if (of_chunk_.size() == 1) {
    std::swap(of_run_.leading, of_run_.trailing);
  } else if (of_chunk_.leading.size() > 1) {
    of_run_.leading = outer_product(factors, of_chunk_.leading);
  }
  return of_run_;
}

}  // namespace tessera
