#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>
#include "words/oracle.hpp"
#include "tensor/slots.hpp"

namespace tessera {
namespace {

/// What `of_chunk` says of every part's chunk and number there.
template <class T, class OfChunk>
std::vector<T> of_parts(const Shape& shape, const Shape& whole, const OfChunk& of_chunk) {
  std::vector<T> values;
  if (!shape.is_divided()) {
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      values.push_back(of_chunk(chunk, 0));
    }
    return values;
  }
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

/// log2 of all chunks' padded sizes, tensor by tensor.
std::vector<unsigned> padded_chunks(std::span<const Shape> tensors) {
  std::vector<unsigned> chunk_bits;
  for (const Shape& tensor : tensors) {
    const Shape shape = tensor.undivided();
    chunk_bits.insert(chunk_bits.end(), shape.chunk_count(), std::max(shape.inner_bits(), OracleLayout::min_log_chunk));
  }
  return chunk_bits;
}

}  // namespace

bool has_rows(const OracleParameters& parameters) {
  return parameters.absent_rows % row_unit == 0 && parameters.absent_rows < (std::size_t{1} << parameters.log_rows) / 2;
}

OracleLayout::OracleLayout(std::vector<Shape> tensors, unsigned min_log_size) : tensors_(std::move(tensors)) {
  pack_flat(padded_chunks(tensors_));
  log_size_ = std::max(log_size_, min_log_size);
}

OracleLayout::OracleLayout(std::vector<Shape> tensors, const OracleParameters& parameters)
    : tensors_(std::move(tensors)) {
  const std::vector<unsigned> chunk_bits = padded_chunks(tensors_);
  if (parameters.absent_rows == 0) {
    pack_flat(chunk_bits);
  } else {
    pack_bands(chunk_bits, parameters);
  }
}

void OracleLayout::pack_flat(const std::vector<unsigned>& chunk_bits) {
  log_largest_chunk_ = chunk_bits.empty() ? min_log_chunk : *std::ranges::max_element(chunk_bits);
  const Slots slots = deal_slots(chunk_bits);
  used_ = slots.used;
  log_size_ = std::max(ceil_log2(used_), min_log_chunk);
  place(slots.first, {});
}

void OracleLayout::pack_bands(const std::vector<unsigned>& chunk_bits, const OracleParameters& parameters) {
  absent_rows_ = parameters.absent_rows;
  log_rows_ = parameters.log_rows;
  if (parameters.absent_rows >= std::size_t{1} << parameters.log_rows || parameters.band(0).log_rows > min_log_chunk) {
    throw std::invalid_argument("an oracle of " + std::to_string(parameters.rows()) + " rows");
  }
  used_ = deal_slots(chunk_bits).used;  // whether that many have places
  std::vector<std::size_t> order(chunk_bits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return chunk_bits[a] > chunk_bits[b]; });
  columns_ = (used_ + parameters.rows() - 1) / parameters.rows();
  std::vector<std::size_t> ends(parameters.band_count());  // of a band's columns so far
  std::vector<std::size_t> first(chunk_bits.size());
  std::vector<std::uint8_t> of_chunk(chunk_bits.size());
  for (const std::size_t i : order) {
    const auto columns = [&](std::size_t b) { return std::size_t{1} << (chunk_bits[i] - parameters.band(b).log_rows); };
    const auto end = [&](std::size_t b) { return ends[b] + columns(b); };
    std::size_t chosen = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      if (end(b) <= columns_) {
        chosen = b;
        break;
      }
      chosen = end(b) < end(chosen) ? b : chosen;
    }
    first[i] = ends[chosen] << parameters.band(chosen).log_rows;
    of_chunk[i] = static_cast<std::uint8_t>(chosen);
    ends[chosen] = end(chosen);
    columns_ = std::max(columns_, ends[chosen]);
    log_most_columns_ = std::max(log_most_columns_, chunk_bits[i] - parameters.band(chosen).log_rows);
  }
  columns_ = *std::ranges::max_element(ends);
  place(first, of_chunk);
}

void OracleLayout::place(const std::vector<std::size_t>& first, const std::vector<std::uint8_t>& band) {
  std::size_t before = 0;  // chunks of the tensors before
  for (const Shape& shape : tensors_) {
    const Shape whole = shape.undivided();
    offsets_.push_back(of_parts<std::size_t>(shape, whole, [&](std::size_t chunk, std::size_t part) {
      return first[before + chunk] + (part << shape.inner_bits());
    }));
    if (!band.empty()) {
      bands_.push_back(
          of_parts<std::uint8_t>(shape, whole, [&](std::size_t chunk, std::size_t) { return band[before + chunk]; }));
    }
    before += whole.chunk_count();
  }
}

void OracleLayout::check_rows(const OracleParameters& parameters) const {
  if (parameters.absent_rows != absent_rows_ || (absent_rows_ > 0 && parameters.log_rows != log_rows_)) {
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

std::uint64_t packed_size(std::span<const Shape> tensors) {
  std::uint64_t used = 0;
  for (const Shape& tensor : tensors) {
    const Shape shape = tensor.undivided();
    used += std::uint64_t{shape.chunk_count()} << std::max(shape.inner_bits(), OracleLayout::min_log_chunk);
  }
  return std::max(used, std::uint64_t{1} << OracleLayout::min_log_chunk);
}

PackedOracle pack_oracle(std::vector<Shape> tensors, OracleParameters parameters) {
  const std::size_t all = std::size_t{1} << parameters.log_rows;
  const std::uint64_t size = packed_size(tensors);
  const std::uint64_t columns = std::uint64_t{1} << (ceil_log2(size) - std::min(ceil_log2(size), parameters.log_rows));
  for (std::size_t rows = all / 2 + row_unit; rows < all; rows += row_unit) {
    if (rows * columns < size) {
      continue;
    }
    const OracleParameters fewer{parameters.log_rows, parameters.log_inverse_rate,
                                 static_cast<std::uint32_t>(all - rows)};
    OracleLayout packed(tensors, fewer);
    if (packed.columns(fewer) <= columns) {
      return {std::move(packed), fewer};
    }
  }
  parameters.absent_rows = 0;
  return {OracleLayout(std::move(tensors)), parameters};
}

}  // namespace tessera
