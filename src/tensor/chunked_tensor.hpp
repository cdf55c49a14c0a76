#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

#include "base/range.hpp"
#include "memory/storage.hpp"
#include "tensor/shape.hpp"

namespace tessera {

/// What is distributed to ranks, in equal contiguous ranges.
enum class Deal : std::uint8_t {
  indices,  ///< chunk numbers of a dimension
  tiles,    ///< present chunks of it and of all behind it: ranks that are neighbours share an index
  all,      ///< of those before it, too: all chunks of an index, then all of the next one. All are present
};

/// Which rank owns which chunk of a tensor. `dimension` is the one that is distributed; `replicated` tensors are held
/// by every rank and counted by rank 0. Never touches a byte of the proof.
struct Ownership {
  static constexpr std::size_t replicated = static_cast<std::size_t>(-1);
  std::size_t dimension = replicated;
  Deal deal = Deal::indices;

  [[nodiscard]] int owner(const Shape& shape, std::size_t chunk, int ranks) const;
  /// How many units are distributed: chunk numbers or chunks, as `deal` says. Tiles where there are windows: the mean.
  [[nodiscard]] std::size_t parts(const Shape& shape) const;
  friend bool operator==(const Ownership&, const Ownership&) = default;
};

/// The chunks of a tensor that a rank owns, ascending.
std::vector<std::size_t> owned_chunks(const Shape& shape, const Ownership& ownership, int rank, int ranks);

/// The rank that owns unit `index` of `count` when these are distributed to `ranks` in contiguous ranges:
/// floor(index*ranks/count).
int contiguous_owner(std::size_t index, std::size_t count, int ranks);
/// The units that `rank` owns by contiguous_owner().
Range contiguous_range(std::size_t count, int rank, int ranks);

/// What `rank` owns of a dimension whose chunks are distributed by contiguous_owner(), without padding.
Range owned_rows(const Dimension& dimension, int rank, int ranks);

/// Where a row of a tensor (block, dimensions of the row.., tokens), or (rows, tokens) as block 0, lies: the chunk of
/// its first tokens, its number in that, and how many chunks further its next tokens are.
struct RowPlace {
  std::size_t chunk, row, step;
};
/// Rows of a block are numbered row-major over the lengths of the dimensions between block and tokens, without padding.
RowPlace row_place(const Shape& shape, std::size_t block, std::size_t row);
/// Rows of a block that `rank` owns if dimension 1 is distributed.
Range owned_rows(const Shape& shape, int rank, int ranks);

/// Integers of a sharded tensor: the chunks that this rank holds, each 2^inner_bits values, inner indices row-major.
template <class T>
class ChunkedTensor {
 public:
  ChunkedTensor() = default;
  /// Zero-filled; holds what `rank` owns (everything if replicated).
  ChunkedTensor(Shape shape, Ownership ownership, int rank, int ranks)
      : shape_(std::move(shape)), ownership_(ownership), slot_(shape_.chunk_count(), absent) {
    hold_owned(rank, ranks);
    values_.resize(held_.size() << shape_.inner_bits());
  }
  /// Holds what `rank` owns, whose values are there already, chunk after chunk. Throws std::invalid_argument if there
  /// are more or fewer.
  static ChunkedTensor of(const Shape& shape, const Ownership& ownership, int rank, int ranks,
                          ZeroedVector<T>&& values) {
    ChunkedTensor result;
    result.shape_ = shape;
    result.ownership_ = ownership;
    result.slot_.assign(result.shape_.chunk_count(), absent);
    result.hold_owned(rank, ranks);
    if (values.size() != result.held_.size() << result.shape_.inner_bits()) {
      throw std::invalid_argument("ChunkedTensor: expected " +
                                  std::to_string(result.held_.size() << result.shape_.inner_bits()) +
                                  " values, found " + std::to_string(values.size()));
    }
    result.values_ = std::move(values);
    return result;
  }
  /// Zero-filled; holds these chunks, ascending, whoever owns them.
  static ChunkedTensor holding(const Shape& shape, Ownership ownership, const std::vector<std::size_t>& chunks) {
    ChunkedTensor result;
    result.shape_ = shape;
    result.ownership_ = ownership;
    result.slot_.assign(result.shape_.chunk_count(), absent);
    for (const std::size_t chunk : chunks) {
      result.hold(chunk);
    }
    result.values_.resize(result.held_.size() << result.shape_.inner_bits());
    return result;
  }

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Ownership& ownership() const { return ownership_; }
  /// Numbers of the chunks held here, ascending.
  [[nodiscard]] const std::vector<std::size_t>& held() const { return held_; }
  [[nodiscard]] bool holds(std::size_t chunk) const { return slot_[chunk] != absent; }
  /// Values of a held chunk.
  [[nodiscard]] std::span<T> chunk(std::size_t chunk) {
    return {values_.data() + (slot_[chunk] << shape_.inner_bits()), shape_.chunk_size()};
  }
  [[nodiscard]] std::span<const T> chunk(std::size_t chunk) const {
    return {values_.data() + (slot_[chunk] << shape_.inner_bits()), shape_.chunk_size()};
  }
  [[nodiscard]] ZeroedVector<T>& values() { return values_; }
  [[nodiscard]] const ZeroedVector<T>& values() const { return values_; }

 private:
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  void hold_owned(int rank, int ranks) {
    const bool all = ownership_.dimension == Ownership::replicated;
    for (std::size_t chunk = 0; chunk < shape_.chunk_count(); ++chunk) {
      if (all || ownership_.owner(shape_, chunk, ranks) == rank) {
        hold(chunk);
      }
    }
  }
  void hold(std::size_t chunk) {
    slot_[chunk] = held_.size();
    held_.push_back(chunk);
  }

  Shape shape_;
  Ownership ownership_;
  std::vector<std::size_t> held_;
  std::vector<std::size_t> slot_;
  ZeroedVector<T> values_;
};

/// A view of any integer tensor, for code that reads committed tensors of several widths.
using IntegerTensor = std::variant<const ChunkedTensor<std::int16_t>*, const ChunkedTensor<std::uint16_t>*,
                                   const ChunkedTensor<std::int32_t>*, const ChunkedTensor<std::int64_t>*>;
inline Ownership ownership_of(const IntegerTensor& tensor) {
  return std::visit([](const auto* values) { return values->ownership(); }, tensor);
}

}  // namespace tessera
