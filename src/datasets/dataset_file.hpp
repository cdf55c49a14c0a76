#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/errors.hpp"
#include "hash/dataset_hash.hpp"
#include "hash/hex.hpp"

namespace tessera {

/// Number of entries in each dimension; empty for a scalar.
using Extents = std::vector<std::uint64_t>;

template <class T>
concept Number = std::same_as<T, std::uint8_t> || std::same_as<T, std::int16_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint64_t> || std::same_as<T, float> || std::same_as<T, double>;

/// An element type: h5py's name of it ("int16", "float32") or "string" with a width in bytes.
struct ElementType {
  std::string name;
  std::uint64_t width = 0;  // bytes of one element
  friend bool operator==(const ElementType&, const ElementType&) = default;
  template <Number T>
  static ElementType of() {
    const std::string bits = std::to_string(8 * sizeof(T));
    const char* kind = std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint";
    return {kind + bits, sizeof(T)};
  }
  static ElementType text(std::size_t bytes) { return {"string", std::max<std::uint64_t>(bytes, 1)}; }
  [[nodiscard]] std::string to_string() const { return name == "string" ? name + std::to_string(width) : name; }
};

/// A dataset as the file declares it; checked against the file's size.
struct DatasetInfo {
  std::string name;  // path from the root, without leading slash
  ElementType type;
  Extents extents = {};
  Digest digest{};
  std::uint64_t offset = 0;  ///< of the first value in the file; set by ReadFile
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint64_t bytes() const { return count() * type.width; }
};

/// What the root of a file says of it; nothing where an attribute is missing or is not what ours are.
struct FileHead {
  std::string format;  // empty: none
  std::optional<std::uint32_t> version = {};
  std::optional<Digest> digest = {};
};

/// What a file says of a dataset beside its name, type and extents.
struct StoredDataset {
  std::optional<std::uint64_t> offset;  // of its first byte; nothing if it has no place
  std::uint64_t bytes = 0;
  std::optional<Digest> digest;
};

/// A file of ours as named datasets, whatever reads it: may come from anyone. Everything that it declares is checked
/// before it is used: nothing is allocated beyond the file's own size or the caller's bounds. Throws InputError naming
/// file, field, expected, found.
class DatasetFile {
 public:
  static constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();
  virtual ~DatasetFile() = default;
  DatasetFile(const DatasetFile&) = delete;
  DatasetFile& operator=(const DatasetFile&) = delete;

  [[nodiscard]] const std::string& format() const { return format_; }
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
  /// The root digest: identifies the whole content.
  [[nodiscard]] const Digest& digest() const { return digest_; }
  [[nodiscard]] const std::map<std::string, DatasetInfo>& datasets() const { return datasets_; }
  [[nodiscard]] bool contains(const std::string& name) const { return datasets_.contains(name); }
  /// Names of the datasets below group `group`, without it.
  [[nodiscard]] std::vector<std::string> names_in(const std::string& group) const;
  /// Extents of a dataset of the wanted type.
  template <Number T>
  [[nodiscard]] const Extents& extents(const std::string& name) const {
    return find(name, ElementType::of<T>()).extents;
  }

  /// A whole dataset of exactly this type and these extents; its digest is checked.
  template <Number T>
  [[nodiscard]] std::vector<T> read(const std::string& name, const Extents& expected) const {
    return read_checked<T>(find(name, ElementType::of<T>(), expected));
  }
  /// Reads a whole dataset of exactly this type and these extents into memory of the caller's; its digest is checked.
  template <Number T>
  void read_into(const std::string& name, const Extents& expected, std::span<T> values) const {
    read_whole(find(name, ElementType::of<T>(), expected), std::as_writable_bytes(values));
  }
  /// A list of at most `max_count` numbers.
  template <Number T>
  [[nodiscard]] std::vector<T> read_list(const std::string& name, std::uint64_t max_count) const {
    const DatasetInfo& info = find(name, ElementType::of<T>());
    check_list(info, max_count);
    return read_checked<T>(info);
  }
  template <Number T>
  [[nodiscard]] T read_scalar(const std::string& name) const {
    return read<T>(name, {}).front();
  }
  /// Values first, first + 1, ... of a dataset with these extents, counted row-major. Not checked against the digest:
  /// the caller has another check (a Merkle path).
  template <Number T>
  void read_part(const std::string& name, const Extents& expected, std::uint64_t first, std::span<T> values) const {
    read_bytes(find(name, ElementType::of<T>(), expected), first * sizeof(T), std::as_writable_bytes(values));
  }
  /// Says that read_part() of these values will follow: many that are not in memory come from the disk side by side.
  template <Number T>
  void expect_part(const std::string& name, const Extents& expected, std::uint64_t first, std::uint64_t count) const {
    const DatasetInfo& info = find(name, ElementType::of<T>(), expected);
    expect_at(info.offset + first * sizeof(T), count * sizeof(T));
  }
  /// Reads a dataset in pieces and checks its digest.
  void check(const std::string& name) const;
  [[nodiscard]] std::string read_text(const std::string& name, std::uint64_t max_bytes) const;
  [[nodiscard]] std::vector<std::string> read_texts(const std::string& name, std::uint64_t max_count,
                                                    std::uint64_t max_bytes) const;
  [[nodiscard]] std::vector<std::string> read_strings(const std::string& name, std::uint64_t max_count,
                                                      std::uint64_t max_bytes) const;
  /// Reads everything, in pieces, and checks every digest.
  void check_all() const;
  /// "<file>: <field>: expected ..., found ..." as InputError.
  [[noreturn]] void fail(const std::string& field, const std::string& expected, const std::string& found) const;

 protected:
  static constexpr unsigned max_depth = 6;  // of groups in groups
  static constexpr std::size_t max_objects = 4096;
  static constexpr std::size_t max_rank = 4;

  /// `hash_many` hashes the pieces of long datasets.
  explicit DatasetFile(std::string name, DatasetHash::HashMany hash_many = blake2s_each)
      : name_(std::move(name)), hash_many_(hash_many) {}
  void set_file_bytes(std::uint64_t bytes, std::uint64_t max_bytes);
  /// Checks head and wanted format; an empty one accepts any of our files.
  void set_head(const FileHead& head, std::string_view wanted_format);
  /// An object is about to be looked at: it is linked under this path, and it is the only link to its address.
  void see_object(const std::string& path, std::uint64_t address);
  /// Name, type and extents, an empty type for any that is not ours.
  void add_dataset(DatasetInfo info, const StoredDataset& stored);
  /// After all datasets: the root digest is theirs.
  void check_digest() const;
  [[nodiscard]] const DatasetInfo& find(const std::string& name, const ElementType& type) const;
  void check_list(const DatasetInfo& info, std::uint64_t max_count) const;
  void require_digest(const DatasetInfo& info, const Digest& computed) const;

 private:
  [[nodiscard]] const DatasetInfo& find(const std::string& name) const;
  [[nodiscard]] const DatasetInfo& find(const std::string& name, const ElementType& type,
                                        const Extents& expected) const;
  [[nodiscard]] const DatasetInfo& find_text(const std::string& name, std::uint64_t max_bytes) const;
  void read_whole(const DatasetInfo& info, std::span<std::byte> bytes) const;
  /// Reads bytes of a dataset from its byte `begin` on.
  void read_bytes(const DatasetInfo& info, std::uint64_t begin, std::span<std::byte> bytes) const;
  /// Reads bytes of the file from its byte `offset` on, inside a dataset that add_dataset() has taken.
  virtual void read_at(const DatasetInfo& info, std::uint64_t offset, std::span<std::byte> bytes) const = 0;
  /// Says that these bytes of the file will be read.
  virtual void expect_at(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) const {}
  template <Number T>
  [[nodiscard]] std::vector<T> read_checked(const DatasetInfo& info) const {
    std::vector<T> values(static_cast<std::size_t>(info.count()));  // of bytes that the file has
    read_whole(info, std::as_writable_bytes(std::span(values)));
    return values;
  }

  std::string name_;
  DatasetHash::HashMany hash_many_;
  std::string format_;
  std::uint32_t version_ = 0;
  std::uint64_t file_bytes_ = 0;
  Digest digest_{};
  std::set<std::uint64_t> addresses_;  // of the objects seen
  std::map<std::string, DatasetInfo> datasets_;
};

/// "(2, 3)".
std::string to_string(const Extents& extents);
/// The digest of a whole file: BLAKE2s-256 over "tessera file\n", format, version and, sorted by name, each dataset's
/// name, type, extents and digest. Texts are preceded by their length, all numbers are 8 bytes little endian.
Digest file_digest(const std::string& format, std::uint32_t version,
                   const std::map<std::string, DatasetInfo>& datasets);

}  // namespace tessera
