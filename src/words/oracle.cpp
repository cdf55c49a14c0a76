#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>
#include "base/bits.hpp"
#include "words/oracle.hpp"
#include "tensor/slots.hpp"

namespace tessera {
namespace {

/// What `of_chunk` says of every part's chunk and number there.
template <class T, class OfChunk>
std::vector<T> of_parts(const Shape& shape, const Shape& whole, const OfChunk& of_chunk) {
  std::vector<T> values;
  std::vector<std::size_t> coordinates(shape.dimensions().size());
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    std::size_t part = 0;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      const unsigned log_parts = shape.dimensions()[d].log_parts;
      const std::size_t coordinate = shape.coordinate(chunk, d);
      coordinates[d] = coordinate >> log_parts;
      part = (part << log_parts) | (coordinate & ((std::size_t{1} << log_parts) - 1));
    }
    values.push_back(of_chunk(whole.chunk_at(coordinates), part));
  }
  return values;
}

/// log2 of the least size of a chunk in such rows.
unsigned least_chunk(const OracleParameters& parameters) {
  if (parameters.log_rows > most_log_rows || parameters.absent_rows >= std::size_t{1} << parameters.log_rows) {
    throw std::invalid_argument("an oracle of 2^" + std::to_string(parameters.log_rows) + " rows, " +
                                std::to_string(parameters.absent_rows) + " absent");
  }
  return parameters.band(0).log_rows;
}

/// Each tensor's chunks with their padding.
std::vector<Pieces> padded_chunks(std::span<const Shape> tensors, unsigned min_log_chunk) {
  std::vector<Pieces> chunks;
  for (const Shape& tensor : tensors) {
    const Shape shape = tensor.undivided();
    chunks.push_back({std::max(shape.inner_bits(), min_log_chunk), shape.chunk_count()});
  }
  return chunks;
}

/// Chunks of one tensor that lie one behind the other in a band of rows.
struct Run {
  std::size_t tensor = 0;
  std::size_t count = 0;  // chunks
  std::size_t band = 0;
  std::size_t column = 0;  // where the first one begins
  std::size_t width = 0;   // columns of one
};

/// Where chunks of tensors lie in bands: the largest tensors' chunks first, each tensor's in their order.
struct Runs {
  std::vector<Run> runs;
  std::size_t columns = 0;
};

/// The largest chunks first, each in the first band that has room for it; if none has, in the one where it ends first.
/// Equal chunks are dealt as many at a time as there is room for.
Runs deal_to_bands(std::span<const Pieces> tensors, std::size_t used, const OracleParameters& parameters) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tensors[a].log_size > tensors[b].log_size; });
  std::vector<std::size_t> ends(parameters.band_count());  // of a band's columns so far
  std::size_t bound = (used + parameters.rows() - 1) / parameters.rows();
  Runs dealt;
  for (const std::size_t tensor : order) {
    std::vector<std::size_t> widths;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      widths.push_back(std::size_t{1} << (tensors[tensor].log_size - parameters.band(b).log_rows));
    }
    const auto end = [&](std::size_t b) { return ends[b] + widths[b]; };
    for (std::size_t left = tensors[tensor].count; left > 0; left -= dealt.runs.back().count) {
      std::size_t chosen = 0;
      for (std::size_t b = 1; b < ends.size() && end(chosen) > bound; ++b) {
        chosen = end(b) <= bound || end(b) < end(chosen) ? b : chosen;
      }
      const std::size_t room = end(chosen) <= bound ? (bound - ends[chosen]) / widths[chosen] : 1;
      dealt.runs.push_back({tensor, std::min(left, room), chosen, ends[chosen], widths[chosen]});
      ends[chosen] += dealt.runs.back().count * widths[chosen];
      bound = std::max(bound, ends[chosen]);
    }
  }
  dealt.columns = *std::ranges::max_element(ends);
  return dealt;
}

}  // namespace

std::size_t WordDomain::exponent(std::size_t leaf) const {
  if (whole()) {
    return leaf;
  }
  const std::size_t in_piece = leaf & ((std::size_t{1} << log_piece()) - 1);
  return (in_piece << log_pieces) + bit_reverse(leaf >> log_piece(), log_pieces);
}

WordDomain WordDomain::of(std::uint64_t least_points) {
  WordDomain domain{ceil_log2(least_points)};
  if (domain.log_size >= least_in_pieces) {
    const std::uint64_t piece = std::uint64_t{1} << domain.log_piece();
    domain.absent_pieces = static_cast<std::uint32_t>(domain.pieces() - (least_points + piece - 1) / piece);
  }
  return domain;
}

std::vector<std::size_t> exponents(const WordDomain& domain, std::span<const std::size_t> leaves) {
  std::vector<std::size_t> exponents;
  exponents.reserve(leaves.size());
  for (const std::size_t leaf : leaves) {
    exponents.push_back(domain.exponent(leaf));
  }
  return exponents;
}

bool has_rows(const OracleParameters& parameters) {
  return parameters.absent_rows % row_unit == 0 && parameters.absent_rows < (std::size_t{1} << parameters.log_rows) / 2;
}

OracleLayout::OracleLayout(std::vector<Shape> tensors, unsigned min_log_size) : tensors_(std::move(tensors)) {
  pack_flat();
  log_size_ = std::max(log_size_, min_log_size);
}

OracleLayout::OracleLayout(std::vector<Shape> tensors, const OracleParameters& parameters)
    : tensors_(std::move(tensors)), min_log_chunk_(least_chunk(parameters)) {
  if (parameters.absent_rows == 0) {
    pack_flat();
  } else {
    pack_bands(parameters);
  }
}

void OracleLayout::pack_flat() {
  const std::vector<Pieces> chunks = padded_chunks(tensors_, min_log_chunk_);
  const Slots slots = deal_slots(chunks);
  used_ = slots.used;
  log_size_ = std::max(ceil_log2(used_), min_log_chunk_);
  log_largest_chunk_ = min_log_chunk_;
  std::vector<std::vector<std::size_t>> first(tensors_.size());
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const auto& [log_size, count] = chunks[t];
    log_largest_chunk_ = std::max(log_largest_chunk_, count > 0 ? log_size : 0);
    first[t].reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      first[t].push_back(slots.first[t] + (i << log_size));
    }
  }
  place(std::move(first), {});
}

void OracleLayout::pack_bands(const OracleParameters& parameters) {
  absent_rows_ = parameters.absent_rows;
  log_rows_ = parameters.log_rows;
  const std::vector<Pieces> chunks = padded_chunks(tensors_, min_log_chunk_);
  used_ = deal_slots(chunks).used;  // whether that many have places
  const Runs dealt = deal_to_bands(chunks, used_, parameters);
  columns_ = dealt.columns;
  std::vector<std::vector<std::size_t>> first(tensors_.size());
  std::vector<std::vector<std::uint8_t>> band(tensors_.size());
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    first[t].reserve(chunks[t].count);
    band[t].reserve(chunks[t].count);
  }
  for (const Run& run : dealt.runs) {
    const unsigned log_rows = parameters.band(run.band).log_rows;
    for (std::size_t i = 0; i < run.count; ++i) {
      first[run.tensor].push_back((run.column + i * run.width) << log_rows);
    }
    band[run.tensor].resize(first[run.tensor].size(), static_cast<std::uint8_t>(run.band));
    log_most_columns_ = std::max(log_most_columns_, ceil_log2(run.width));
  }
  place(std::move(first), std::move(band));
}

void OracleLayout::place(std::vector<std::vector<std::size_t>> first, std::vector<std::vector<std::uint8_t>> band) {
  offsets_ = std::move(first);
  bands_ = std::move(band);
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Shape& shape = tensors_[t];
    if (!shape.is_divided()) {
      continue;
    }
    const Shape whole = shape.undivided();
    offsets_[t] = of_parts<std::size_t>(shape, whole, [&](std::size_t chunk, std::size_t part) {
      return offsets_[t][chunk] + (part << shape.inner_bits());
    });
    if (!bands_.empty()) {
      bands_[t] =
          of_parts<std::uint8_t>(shape, whole, [&](std::size_t chunk, std::size_t) { return bands_[t][chunk]; });
    }
  }
}

void OracleLayout::check_rows(const OracleParameters& parameters) const {
  if (parameters.absent_rows != absent_rows_ ||
      (absent_rows_ > 0 ? parameters.log_rows != log_rows_ : parameters.log_rows > min_log_chunk_)) {
    throw std::invalid_argument("an oracle's tensors are packed for other rows than " +
                                std::to_string(parameters.rows()));
  }
}

std::vector<std::size_t> OracleLayout::bands(std::size_t tensor) const {
  if (bands_.empty()) {
    return {0};
  }
  std::vector<std::size_t> found(bands_[tensor].begin(), bands_[tensor].end());
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

unsigned OracleLayout::log_most_columns(const OracleParameters& parameters) const {
  check_rows(parameters);
  return absent_rows_ > 0 ? log_most_columns_ : log_largest_chunk_ - std::min(log_largest_chunk_, parameters.log_rows);
}

std::size_t OracleLayout::columns(const OracleParameters& parameters) const {
  check_rows(parameters);
  return absent_rows_ > 0 ? columns_ : (used_ + parameters.rows() - 1) >> parameters.log_rows;
}

unsigned OracleLayout::log_columns(const OracleParameters& parameters) const {
  check_rows(parameters);
  return absent_rows_ > 0 ? ceil_log2(columns_) : log_size_ - std::min(log_size_, parameters.log_rows);
}

std::uint64_t packed_size(std::span<const Shape> tensors, unsigned min_log_chunk) {
  std::uint64_t used = 0;
  for (const Shape& tensor : tensors) {
    const Shape shape = tensor.undivided();
    used += std::uint64_t{shape.chunk_count()} << std::max(shape.inner_bits(), min_log_chunk);
  }
  return used;
}

PackedOracle pack_oracle(std::vector<Shape> tensors, OracleParameters parameters) {
  const std::size_t all = std::size_t{1} << parameters.log_rows;
  const unsigned log_whole = ceil_log2(std::max<std::uint64_t>(packed_size(tensors, parameters.log_rows), all));
  const std::uint64_t columns = std::uint64_t{1} << (log_whole - parameters.log_rows);
  // fewer rows are more than half of them, so their largest band has half
  const unsigned least = std::max(parameters.log_rows, 1U) - 1;
  const std::uint64_t size = packed_size(tensors, least);
  const std::vector<Pieces> chunks = padded_chunks(tensors, least);
  const std::size_t used = deal_slots(chunks).used;
  for (std::size_t rows = all / 2 + row_unit; rows < all; rows += row_unit) {
    if (rows * columns < size) {
      continue;
    }
    const OracleParameters fewer{parameters.log_rows, parameters.log_inverse_rate,
                                 static_cast<std::uint32_t>(all - rows), parameters.absent_pieces};
    if (deal_to_bands(chunks, used, fewer).columns <= columns) {
      return {OracleLayout(std::move(tensors), fewer), fewer};
    }
  }
  parameters.absent_rows = 0;
  return {OracleLayout(std::move(tensors), parameters), parameters};
}

}  // namespace tessera
