#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/range.hpp"

namespace tessera {

/// Where one tensor lies in a file. Everything is checked: type known, length that of so many values, inside the file.
struct TensorEntry {
  std::string dtype;                 // as the format calls it: "F32", "Q4_K", ...
  std::vector<std::size_t> extents;  // row-major: the last one is that of neighbours
  std::size_t count = 0;             // product of the extents
  std::uint64_t offset = 0;          // absolute, in bytes
  std::uint64_t length = 0;          // bytes
};

/// The tensors of a checkpoint, whichever files they lie in, under the names that are stored. Safe to read from several
/// threads.
class StoredTensors {
 public:
  virtual ~StoredTensors() = default;

  /// Names of all tensors, in alphabetical order.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] virtual bool contains(const std::string& tensor) const = 0;
  [[nodiscard]] virtual const TensorEntry& entry(const std::string& tensor) const = 0;
  /// The file that holds a tensor, for messages; of a tensor that there is not, the file that says which there are.
  [[nodiscard]] virtual std::string place_of(const std::string& tensor) const = 0;
  /// Rows (entries of the first extent) of a tensor as float, row-major. Throws InputError for a type that has no such
  /// values, NaN and infinity, naming file, tensor and index.
  virtual void read_rows(const std::string& tensor, Range rows, std::span<float> values) const = 0;
  /// All rows of a tensor, as read_rows() reads them.
  [[nodiscard]] std::vector<float> read(const std::string& tensor) const;
  /// The files, in whole.
  [[nodiscard]] virtual std::vector<std::string> files() const = 0;
};

/// Throws InputError naming `place` and the first of the values, the tensor's from number `first` on, that is not
/// finite.
void check_finite(std::span<const float> values, const std::string& place, std::size_t first);

}  // namespace tessera
