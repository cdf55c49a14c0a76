#include <algorithm>
#include <stdexcept>
#include "opening/weights.hpp"

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
  // beta as an outer product: a head as long as a vocabulary has few entries that are not 0, and needs few of its
  // weights
  const std::size_t second = in_head / 2;
  const std::vector<E> upper = eq_table(low.first(in_head - second), eq(tail, low.subspan(in_head)));
  const std::vector<E> lower = eq_table(low.subspan(in_head - second, second));
  std::vector<E> table(factor.head.size() >> in_head);
  for (std::size_t i = 0; i < factor.head.size() >> second; ++i) {
    const E* const entries = factor.head.data() + (i << second);
    E sum;
    for (std::size_t j = 0; j < lower.size(); ++j) {
      if (entries[j] != E::zero()) {
        sum += entries[j] * lower[j];
      }
    }
    if (sum != E::zero()) {
      table[i >> (in_head - second)] += sum * upper[i & (upper.size() - 1)];
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

BandPoint band_point(const RowBand& band, std::span<const E> row_point) {
  const std::size_t number = row_point.size() - band.log_rows;  // variables
  return {eq_index(row_point.first(number), band.first >> band.log_rows), row_point.subspan(number)};
}

namespace {

/// The dimensions with several chunks.
std::vector<std::size_t> cut_dimensions(const Shape& shape) {
  std::vector<std::size_t> cut;
  for (std::size_t d = 0; d < shape.dimensions().size(); ++d) {
    if (shape.dimensions()[d].chunk_count() > 1) {
      cut.push_back(d);
    }
  }
  return cut;
}

}  // namespace

std::vector<WeightEvaluator::Run> WeightEvaluator::runs_of(const Shape& shape, std::span<const std::size_t> chunks) {
  std::vector<std::size_t> cut = cut_dimensions(shape);
  const std::size_t last = cut.empty() ? 0 : cut.back();
  cut.resize(std::max<std::size_t>(cut.size(), 1) - 1);
  const auto follows = [&](std::size_t a, std::size_t b) {
    return shape.coordinate(b, last) == shape.coordinate(a, last) + 1 &&
           std::ranges::all_of(cut, [&](std::size_t d) { return shape.coordinate(a, d) == shape.coordinate(b, d); });
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i > 0 && follows(chunks[i - 1], chunks[i])) {
      ++runs.back().end;
    } else {
      runs.push_back({chunks[i], i, i + 1});
    }
  }
  return runs;
}

WeightEvaluator::Part WeightEvaluator::part(std::size_t tensor, std::size_t band,
                                            std::span<const std::size_t> chunks) const {
  const RowBand rows = parameters_.band(band);
  const BandPoint inside = band_point(rows, rows_);
  Point point = vector_;
  point.insert(point.end(), inside.rows.begin(), inside.rows.end());
  const Shape& shape = layout_.tensors()[tensor];
  const unsigned chunk_bits = std::max(shape.inner_bits(), OracleLayout::min_log_chunk);
  const std::size_t high_bits = point.size() - chunk_bits;
  const std::span<const E> high = std::span<const E>(point).first(high_bits);
  Part part{runs_of(shape, chunks), {}, split_chunk_point(shape, std::span<const E>(point).subspan(high_bits))};
  // beta over the high bits as an outer product: two small tables instead of one as long as the oracle
  const std::size_t second = high_bits / 2;
  const std::vector<E> upper = eq_table(high.first(high_bits - second), part.chunk.padding * inside.scale);
  const std::vector<E> lower = eq_table(high.subspan(high_bits - second));
  part.selectors.reserve(chunks.size());
  for (const std::size_t chunk : chunks) {
    const std::uint64_t place = ((first_ << rows.log_rows) + layout_.offset(tensor, chunk)) >> chunk_bits;
    part.selectors.push_back(upper[static_cast<std::size_t>(place >> second)] *
                             lower[static_cast<std::size_t>(place & (lower.size() - 1))]);
  }
  return part;
}

const std::vector<WeightEvaluator::Part>& WeightEvaluator::parts(std::size_t tensor) {
  const auto [entry, is_new] = tensors_.try_emplace(tensor);
  if (is_new) {
    std::vector<std::vector<std::size_t>> chunks(parameters_.band_count());
    for (std::size_t chunk = 0; chunk < layout_.tensors()[tensor].chunk_count(); ++chunk) {
      chunks[layout_.band(tensor, chunk)].push_back(chunk);
    }
    for (std::size_t band = 0; band < chunks.size(); ++band) {
      if (!chunks[band].empty()) {
        entry->second.push_back(part(tensor, band, chunks[band]));
      }
    }
  }
  return entry->second;
}

E WeightEvaluator::evaluate(const LinearForm& claim) {
  E total;
  for (const Part& part : parts(claim.tensor)) {
    total += evaluate(layout_.tensors()[claim.tensor], part, claim);
  }
  return total;
}

E WeightEvaluator::evaluate(const Shape& shape, const Part& part, const LinearForm& claim) {
  const auto& dimensions = shape.dimensions();
  std::vector<std::vector<E>> scalars;  // by dimension and chunk coordinate
  E constant = E::one();
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    scalars.push_back(bind_low(claim.weight[d], part.chunk.low[d]));
    constant *= dimensions[d].chunk_count() == 1 ? scalars[d][0] : E::one();
  }
  std::vector<std::size_t> cut = cut_dimensions(shape);
  if (cut.empty()) {
    return constant * part.selectors[0];
  }
  const std::size_t last = cut.back();
  cut.pop_back();
  E total;
  for (const Run& run : part.runs) {
    const E* const weights = scalars[last].data() + shape.coordinate(run.chunk, last);
    E sum;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      sum += part.selectors[i] * weights[i - run.begin];
    }
    for (const std::size_t d : cut) {
      sum *= scalars[d][shape.coordinate(run.chunk, d)];
    }
    total += sum;
  }
  return constant * total;
}

}  // namespace tessera
