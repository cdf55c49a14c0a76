#include <algorithm>
#include <stdexcept>
#include "commitment/weights.hpp"

namespace tessera {

void require_claim_fits(const OracleLayout& layout, const LinearForm& claim) {
  const auto require = [&](bool ok, const char* what) {
    if (!ok) {
      throw std::invalid_argument("opening claim on tensor " + std::to_string(claim.tensor) + ": " + what);
    }
  };
  require(claim.tensor < layout.tensors().size(), "no such tensor in the oracle");
  const auto& dimensions = layout.tensors()[claim.tensor].dimensions();
  require(!dimensions.empty() && claim.weight.size() == dimensions.size(), "one factor a dimension is expected");
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const Factor& factor = claim.weight[d];
    require(!factor.head.empty() && (factor.head.size() & (factor.head.size() - 1)) == 0,
            "a factor's head must have a power of two of entries");
    require(factor.bits() == dimensions[d].bits(), "a factor has the wrong number of variables");
  }
}

std::vector<E> bind_low(const Factor& factor, std::span<const E> low) {
  const std::span<const E> tail(factor.tail);
  if (tail.size() >= low.size()) {
    const std::size_t rest = tail.size() - low.size();
    return outer_product(factor.head, eq_table(tail.first(rest), eq(tail.subspan(rest), low)));
  }
  const std::size_t in_head = low.size() - tail.size();
  const std::vector<E> weights = eq_table(low.first(in_head), eq(tail, low.subspan(in_head)));
  std::vector<E> table(factor.head.size() >> in_head);
  for (std::size_t i = 0; i < factor.head.size(); ++i) {
    if (factor.head[i] != E::zero()) {
      table[i >> in_head] += factor.head[i] * weights[i & (weights.size() - 1)];
    }
  }
  return table;
}

std::vector<unsigned> low_bits_of_dimensions(const Shape& shape, unsigned bits) {
  std::vector<unsigned> low(shape.dimensions().size());
  for (std::size_t d = low.size(); d-- > 0;) {
    low[d] = std::min(bits, shape.dimensions()[d].log_chunk);
    bits -= low[d];
  }
  return low;
}

ChunkPoint split_chunk_point(const Shape& shape, std::span<const E> point) {
  ChunkPoint result;
  const std::size_t inner = std::min<std::size_t>(shape.inner_bits(), point.size());
  for (const E& coordinate : point.first(point.size() - inner)) {
    result.padding *= E::one() - coordinate;
  }
  std::span<const E> rest = point.subspan(point.size() - inner);
  for (const unsigned bits : low_bits_of_dimensions(shape, static_cast<unsigned>(inner))) {
    result.low.emplace_back(rest.begin(), rest.begin() + bits);
    rest = rest.subspan(bits);
  }
  return result;
}

const WeightEvaluator::Tensor& WeightEvaluator::tensor(std::size_t number) {
  const auto [entry, is_new] = tensors_.try_emplace(number);
  Tensor& tensor = entry->second;
  if (!is_new) {
    return tensor;
  }
  const Shape& shape = layout_.tensors()[number];
  const unsigned chunk_bits = std::max(shape.inner_bits(), OracleLayout::min_log_chunk);
  const std::span<const E> point(point_);
  const std::size_t high_bits = point.size() - chunk_bits;
  tensor.chunk = split_chunk_point(shape, point.subspan(high_bits));
  // beta over the high bits as an outer product: two small tables instead of one as long as the oracle
  const std::size_t second = high_bits / 2;
  const std::vector<E> upper = eq_table(point.first(high_bits - second), tensor.chunk.padding);
  const std::vector<E> lower = eq_table(point.subspan(high_bits - second, second));
  tensor.selectors.reserve(shape.chunk_count());
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    const std::uint64_t place = (first_ + layout_.offset(number, chunk)) >> chunk_bits;
    tensor.selectors.push_back(upper[static_cast<std::size_t>(place >> second)] *
                               lower[static_cast<std::size_t>(place & (lower.size() - 1))]);
  }
  return tensor;
}

E WeightEvaluator::evaluate(const LinearForm& claim) {
  const Tensor& state = tensor(claim.tensor);
  const Shape& shape = layout_.tensors()[claim.tensor];
  const auto& dimensions = shape.dimensions();
  std::vector<std::vector<E>> scalars;  // by dimension and chunk coordinate
  E constant = E::one();
  std::vector<std::size_t> cut;  // the dimensions with several chunks
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    scalars.push_back(bind_low(claim.weight[d], state.chunk.low[d]));
    if (dimensions[d].chunk_count() == 1) {
      constant *= scalars[d][0];
    } else {
      cut.push_back(d);
    }
  }
  if (cut.empty()) {
    return constant * state.selectors[0];
  }
  const std::size_t last = cut.back();
  cut.pop_back();
  const auto same_but_last = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(cut, [&](std::size_t d) { return shape.coordinate(a, d) == shape.coordinate(b, d); });
  };
  E total;
  for (std::size_t chunk = 0; chunk < shape.chunk_count();) {
    // chunks that differ in the last cut dimension only: one product each
    const std::size_t first = chunk;
    E run;
    for (; chunk < shape.chunk_count() && same_but_last(chunk, first); ++chunk) {
      run += state.selectors[chunk] * scalars[last][shape.coordinate(chunk, last)];
    }
    for (const std::size_t d : cut) {
      run *= scalars[d][shape.coordinate(first, d)];
    }
    total += run;
  }
  return constant * total;
}

}  // namespace tessera
