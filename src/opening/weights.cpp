#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include "field/dot_product.hpp"
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

void WeightEvaluator::place(std::size_t tensor, std::size_t band, Part& part) const {
  const RowBand rows = parameters_.band(band);
  const BandPoint inside = band_point(rows, rows_);
  Point point = vector_;
  point.insert(point.end(), inside.rows.begin(), inside.rows.end());
  const unsigned chunk_bits = layout_.log_padded_chunk(tensor);
  const std::size_t high_bits = point.size() - chunk_bits;
  const std::span<const E> high = std::span<const E>(point).first(high_bits);
  part.chunk = split_chunk_point(layout_.tensors()[tensor], std::span<const E>(point).subspan(high_bits));
  // an outer product: two small tables instead of one as long as the oracle
  const std::size_t second = high_bits / 2;
  part.upper = eq_table(high.first(high_bits - second), part.chunk.padding * inside.scale);
  part.lower = eq_table(high.subspan(high_bits - second));
  part.first_place = (first_ << rows.log_rows) >> chunk_bits;
}

void WeightEvaluator::find_runs(std::size_t tensor, std::vector<Part>& of_bands) const {
  const Shape& shape = layout_.tensors()[tensor];
  const std::vector<std::size_t> cut = cut_dimensions(shape);
  const std::size_t last = cut.empty() ? 0 : cut.back();
  std::vector<std::size_t> numbers(shape.dimensions().size());
  numbers[last] = 1;
  const std::size_t step = shape.outer_place(numbers);
  numbers[last] = (std::size_t{1} << shape.dimensions()[last].outer_bits()) - 1;
  const std::size_t others = ~shape.outer_place(numbers);  // bits of an outer index
  const unsigned chunk_bits = layout_.log_padded_chunk(tensor);
  const std::span<const std::size_t> indices = shape.outer_indices();
  const std::span<const std::size_t> offsets = layout_.offsets(tensor);
  for (std::size_t chunk = 0, count = 0; chunk < indices.size(); chunk += count) {
    const std::size_t band = layout_.band(tensor, chunk);
    const auto follows = [&](std::size_t next) {
      return indices[next] == indices[next - 1] + step && ((indices[next] ^ indices[next - 1]) & others) == 0 &&
             offsets[next] == offsets[next - 1] + (std::size_t{1} << chunk_bits) && layout_.band(tensor, next) == band;
    };
    count = 1;
    while (chunk + count < indices.size() && follows(chunk + count)) {
      ++count;
    }
    of_bands[band].runs.push_back({chunk, count, offsets[chunk] >> chunk_bits});
  }
}

const std::vector<WeightEvaluator::Part>& WeightEvaluator::parts(std::size_t tensor) {
  const auto [entry, is_new] = tensors_.try_emplace(tensor);
  std::vector<Part>& of_bands = entry->second;
  if (is_new) {
    of_bands.resize(parameters_.band_count());
    find_runs(tensor, of_bands);
    for (std::size_t band = 0; band < of_bands.size(); ++band) {
      if (!of_bands[band].runs.empty()) {
        place(tensor, band, of_bands[band]);
      }
    }
  }
  return of_bands;
}

E WeightEvaluator::Part::weigh(const Run& run, const E* weights) const {
  const std::uint64_t mask = lower.size() - 1;
  const auto second = static_cast<unsigned>(std::countr_zero(lower.size()));
  E sum;
  for (std::size_t i = 0; i < run.count;) {
    const std::uint64_t place = first_place + run.place + i;
    const std::size_t count = std::min<std::size_t>(run.count - i, lower.size() - (place & mask));
    sum += upper[place >> second] * dot({lower.data() + (place & mask), count}, {weights + i, count});
    i += count;
  }
  return sum;
}

E WeightEvaluator::evaluate(const LinearForm& claim) {
  E total;
  for (const Part& part : parts(claim.tensor)) {
    if (!part.runs.empty()) {
      total += evaluate(layout_.tensors()[claim.tensor], part, claim);
    }
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
    return constant * part.weigh(part.runs.front(), std::array{E::one()}.data());
  }
  const std::size_t last = cut.back();
  cut.pop_back();
  E total;
  for (const Run& run : part.runs) {
    E sum = part.weigh(run, scalars[last].data() + shape.coordinate(run.chunk, last));
    for (const std::size_t d : cut) {
      sum *= scalars[d][shape.coordinate(run.chunk, d)];
    }
    total += sum;
  }
  return constant * total;
}

}  // namespace tessera
