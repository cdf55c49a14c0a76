#include "tensor/shape.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "tensor/chunked_tensor.hpp"

namespace tessera {

Dimension Dimension::whole(std::size_t length) { return {length, ceil_log2(length)}; }

Dimension Dimension::outer(std::size_t length) { return {length, 0}; }

Dimension Dimension::tiled(std::size_t length) {
  Dimension dimension = whole(length);
  if (length < 64) {
    return dimension;
  }
  while (dimension.filled() - length > length / 16) {
    --dimension.log_chunk;
  }
  return dimension;
}

Dimension Dimension::cut(std::size_t length, unsigned log_chunk) {
  return {length, std::min(ceil_log2(length), log_chunk)};
}

Dimension Dimension::divided(unsigned log_least, int ranks) const {
  constexpr std::size_t tolerance = 16;  // the largest part is less than 1 + 1/16 of the mean
  Dimension result = *this;
  const auto even = [&] {
    const std::size_t count = result.chunk_count();
    const auto n = static_cast<std::size_t>(ranks);
    return (count + n - 1) / n * n * tolerance <= count * (tolerance + 1);
  };
  while (result.log_chunk > log_least && !even()) {
    --result.log_chunk;
    ++result.log_parts;
  }
  return result;
}

Shape::Shape(std::vector<Dimension> dimensions, Presence presence, std::vector<std::uint32_t> windows)
    : dimensions_(std::move(dimensions)), places_(dimensions_.size()), presence_(presence) {
  if (!windows.empty()) {
    windows_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(windows));
  }
  unsigned parts = 0;
  for (std::size_t j = dimensions_.size(); j-- > 0;) {
    const Dimension& dimension = dimensions_[j];
    places_[j].part = parts;
    places_[j].log_parts = dimension.log_parts;
    places_[j].part_mask = (std::size_t{1} << dimension.log_parts) - 1;
    parts += dimension.log_parts;
    inner_bits_ += dimension.log_chunk;
  }
  outer_bits_ = parts;
  for (std::size_t j = dimensions_.size(); j-- > 0;) {
    const unsigned bits = dimensions_[j].outer_bits() - dimensions_[j].log_parts;
    places_[j].shift = outer_bits_;
    places_[j].mask = (std::size_t{1} << bits) - 1;
    outer_bits_ += bits;
  }
  std::size_t count = 0;
  each_row([&](std::size_t, Range chunks) { count += chunks.size(); });
  std::vector<std::size_t> present;
  present.reserve(count << parts);
  const unsigned shift = places_.empty() ? 0 : places_.back().shift;
  each_row([&](std::size_t row, Range chunks) {
    for (std::size_t i = chunks.first; i < chunks.last; ++i) {
      for (std::size_t part = 0; part < std::size_t{1} << parts; ++part) {
        present.push_back(row | (i << shift) | part);
      }
    }
  });
  outer_index_ = std::make_shared<const std::vector<std::size_t>>(std::move(present));
}

void Shape::each_row(const std::function<void(std::size_t, Range)>& visit) const {
  const std::size_t n = dimensions_.size();
  if (n == 0) {
    visit(0, {0, 1});
    return;
  }
  const auto count = [&](std::size_t j) { return dimensions_[j].chunk_count() >> dimensions_[j].log_parts; };
  std::size_t rows = 1;
  for (std::size_t j = 0; j + 1 < n; ++j) {
    rows *= count(j);
  }
  std::vector<std::size_t> coordinates(n, 0);  // of chunks, not of their parts
  for (std::size_t i = 0; i < rows; ++i) {
    Range chunks{0, count(n - 1)};
    if (presence_ == Presence::causal) {
      const Range tiles = tiles_of(coordinates.front(), coordinates[n - 2]);
      chunks = {std::min(tiles.first, chunks.last), std::min(tiles.last, chunks.last)};
    }
    std::size_t row = 0;
    for (std::size_t j = 0; j + 1 < n; ++j) {
      row |= coordinates[j] << places_[j].shift;
    }
    visit(row, chunks);
    for (std::size_t j = n - 1; j-- > 0;) {
      if (++coordinates[j] < count(j)) {
        break;
      }
      coordinates[j] = 0;
    }
  }
}

Range Shape::tiles_of(std::size_t index, std::size_t query_tile) const {
  const std::size_t first_query = query_tile << dimensions_.end()[-2].log_chunk;
  return {first_key(index, first_query) >> dimensions_.back().log_chunk, key_tiles(query_tile)};
}

bool Shape::goes_on(std::size_t chunk) const {
  const std::size_t before = outer_index(chunk - 1), index = outer_index(chunk);
  const Place& last = places_.back();
  if (last.log_parts == 0) {
    return index == before + (std::size_t{1} << last.shift) && (index >> last.shift & last.mask) != 0;
  }
  for (std::size_t j = 0; j + 1 < places_.size(); ++j) {
    if (outer_coordinate(index, j) != outer_coordinate(before, j)) {
      return false;
    }
  }
  return outer_coordinate(index, places_.size() - 1) == outer_coordinate(before, places_.size() - 1) + 1;
}

Range Shape::chunks_beside(std::size_t chunk, std::size_t dimensions) const {
  if (dimensions == 0) {
    return {0, chunk_count()};
  }
  const unsigned shift = places_[dimensions - 1].shift;
  const std::size_t first = outer_index(chunk) >> shift << shift;
  const auto begin = std::ranges::lower_bound(*outer_index_, first);
  const auto end = std::ranges::lower_bound(*outer_index_, first + (std::size_t{1} << shift));
  return {static_cast<std::size_t>(begin - outer_index_->begin()),
          static_cast<std::size_t>(end - outer_index_->begin())};
}

std::size_t Shape::outer_place(std::span<const std::size_t> coordinates) const {
  std::size_t index = 0;
  for (std::size_t j = 0; j < dimensions_.size(); ++j) {
    const Place& place = places_[j];
    index |= (coordinates[j] >> place.log_parts << place.shift) | ((coordinates[j] & place.part_mask) << place.part);
  }
  return index;
}

std::size_t Shape::chunk_at(std::span<const std::size_t> coordinates) const {
  const std::size_t place = outer_place(coordinates);
  const auto found = std::ranges::lower_bound(*outer_index_, place);
  if (found == outer_index_->end() || *found != place) {
    throw std::out_of_range("Shape::chunk_at: absent chunk");
  }
  return static_cast<std::size_t>(found - outer_index_->begin());
}

Shape Shape::undivided() const {
  if (!is_divided()) {
    return *this;
  }
  std::vector<Dimension> whole;
  for (const Dimension& dimension : dimensions_) {
    whole.push_back(dimension.undivided());
  }
  return Shape(std::move(whole), presence_, {windows().begin(), windows().end()});
}

bool Shape::is_divided() const {
  return std::ranges::any_of(dimensions_, [](const Dimension& dimension) { return dimension.log_parts > 0; });
}

int contiguous_owner(std::size_t index, std::size_t count, int ranks) {
  return static_cast<int>(index * static_cast<std::size_t>(ranks) / count);
}

namespace {

/// Chunk numbers of all dimensions before this one; without windows, what is present does not depend on these.
std::size_t before_of(const Shape& shape, std::size_t dimension) {
  std::size_t before = 1;
  for (std::size_t j = 0; j < dimension; ++j) {
    before *= shape.dimensions()[j].chunk_count();
  }
  return before;
}

}  // namespace

int Ownership::owner(const Shape& shape, std::size_t chunk, int ranks) const {
  if (dimension == replicated || ranks == 1) {
    return 0;
  }
  if (deal == Deal::tiles && !shape.windows().empty()) {
    const Range beside = shape.chunks_beside(chunk, dimension);
    return contiguous_owner(chunk - beside.first, beside.size(), ranks);
  }
  const std::size_t count = parts(shape);
  std::size_t part = deal == Deal::tiles ? chunk % count : shape.coordinate(chunk, dimension);
  if (deal == Deal::all) {
    const std::size_t indices = shape.dimensions()[dimension].chunk_count();
    const std::size_t before = before_of(shape, dimension);
    const std::size_t behind = count / (indices * before);
    part = (part * before + chunk / (indices * behind)) * behind + chunk % behind;
  }
  return contiguous_owner(part, count, ranks);
}

std::size_t Ownership::parts(const Shape& shape) const {
  switch (deal) {
    case Deal::indices:
      return shape.dimensions()[dimension].chunk_count();
    case Deal::tiles:
      return (shape.chunk_count() + before_of(shape, dimension) - 1) / before_of(shape, dimension);
    case Deal::all:
      break;
  }
  return shape.chunk_count();
}

std::vector<std::size_t> owned_chunks(const Shape& shape, const Ownership& ownership, int rank, int ranks) {
  std::vector<std::size_t> chunks;
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (ownership.owner(shape, chunk, ranks) == rank) {
      chunks.push_back(chunk);
    }
  }
  return chunks;
}

Range contiguous_range(std::size_t count, int rank, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  const auto begin = [&](std::size_t r) { return (count * r + n - 1) / n; };
  return {begin(static_cast<std::size_t>(rank)), begin(static_cast<std::size_t>(rank) + 1)};
}

Range owned_rows(const Dimension& dimension, int rank, int ranks) {
  const Range owned = contiguous_range(dimension.chunk_count(), rank, ranks);
  const auto row = [&](std::size_t chunk) { return std::min(chunk << dimension.log_chunk, dimension.length); };
  return {row(owned.first), row(owned.last)};
}

RowPlace row_place(const Shape& shape, std::size_t block, std::size_t row) {
  const std::vector<Dimension>& dimensions = shape.dimensions();
  if (dimensions.size() <= 3) {
    const Dimension& rows = dimensions.end()[-2];
    const std::size_t step = std::size_t{1} << rows.log_parts;
    const std::size_t chunk = row >> rows.log_chunk;
    const std::size_t whole = block * (rows.chunk_count() >> rows.log_parts) + (chunk >> rows.log_parts);
    return {whole * dimensions.back().chunk_count() * step + (chunk & (step - 1)), row & (rows.chunk() - 1), step};
  }
  // heads are not divided
  RowPlace place{0, 0, 1};
  std::size_t chunks = dimensions.back().chunk_count();
  std::size_t rows = 1;
  for (std::size_t j = dimensions.size() - 1; j-- > 1;) {
    const Dimension& dimension = dimensions[j];
    const std::size_t index = row % dimension.length;
    row /= dimension.length;
    place.chunk += (index >> dimension.log_chunk) * chunks;
    place.row += (index & (dimension.chunk() - 1)) * rows;
    chunks *= dimension.chunk_count();
    rows *= dimension.chunk();
  }
  place.chunk += block * chunks;
  return place;
}

Range owned_rows(const Shape& shape, int rank, int ranks) {
  const std::vector<Dimension>& dimensions = shape.dimensions();
  Range rows = owned_rows(dimensions[1], rank, ranks);
  for (std::size_t j = 2; j + 1 < dimensions.size(); ++j) {
    rows = {rows.first * dimensions[j].length, rows.last * dimensions[j].length};
  }
  return rows;
}

}  // namespace tessera
