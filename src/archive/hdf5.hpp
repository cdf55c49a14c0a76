#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/staged_file.hpp"
#include "base/errors.hpp"
#include "hash/blake2s.hpp"

/// \file
/// Our files are HDF5 (serial library, format of version 1.10) of one strict kind, so that h5py users can read them and
/// a hostile file can do nothing:
///   - groups and datasets under hard links only, every object linked once, links in dense storage
///     (H5Pset_link_phase_change(list, 0, 0));
///   - datasets of fixed-width little-endian numbers or fixed-length UTF-8 strings, contiguous in the file itself:
///     no chunks, filters, external or virtual storage;
///   - every dataset has the attribute `digest` = BLAKE2s-256 of its bytes;
///   - the root has `format` (e.g. "tessera proof"), `format_version` and `digest` = BLAKE2s-256 of format, version and
///     all datasets' (name, type, extents, digest) sorted by name: see file_digest in hdf5.cpp.
/// Opening a file checks the root digest; reading a dataset checks its own, so parts that are not read cost nothing.
/// The HDF5 library is not thread-safe: use from one thread at a time.

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

/// Writes a file under a temporary name beside the target; commit() puts it in place. Destroyed before that (an error),
/// nothing is left. The same content gives the same bytes. Throws InputError if the target cannot be written there,
/// JobError if space runs out.
class WriteFile {
 public:
  WriteFile(const std::filesystem::path& target, std::string_view format);
  ~WriteFile();
  WriteFile(const WriteFile&) = delete;
  WriteFile& operator=(const WriteFile&) = delete;

  /// A dataset of numbers, row-major; `extents` must multiply to values.size().
  template <Number T>
  void write(const std::string& name, std::span<const T> values, const Extents& extents) {
    write_bytes(name, ElementType::of<T>(), extents, std::as_bytes(values));
  }
  template <Number T>
  void write(const std::string& name, const std::vector<T>& values) {
    write(name, std::span<const T>(values), {values.size()});
  }
  template <Number T>
  void write_scalar(const std::string& name, T value) {
    write(name, std::span<const T>(&value, 1), {});
  }
  /// A scalar string; trailing NULs are lost.
  void write_text(const std::string& name, std::string_view text);
  /// A list of strings, padded to the longest.
  void write_texts(const std::string& name, std::span<const std::string> texts);
  /// Arbitrary byte strings: name/bytes (concatenated) and name/lengths.
  void write_strings(const std::string& name, std::span<const std::string> strings);

  /// A dataset whose rows (entries of the first dimension) come in order, a part at a time; end_rows() after the last
  /// one, with the digest of all; no other dataset before that. Room on the disk is taken at once, and writing begins
  /// before the file is complete.
  template <Number T>
  void begin_rows(const std::string& name, const Extents& extents) {
    begin_rows(name, ElementType::of<T>(), extents);
  }
  template <Number T>
  void append_rows(std::span<const T> values) {
    append_bytes(ElementType::of<T>(), std::as_bytes(values));
  }
  void end_rows(const Digest& digest);

  /// Completes the file: digest, flush, fsync, rename over the target, fsync of the directory. Returns the file's
  /// digest.
  Digest commit();
  /// The same, but what waits for the disk is done in another thread: get() gives its errors. This must live until
  /// then.
  std::future<void> commit_later();

 private:
  /// Everything that needs the library.
  Digest close();
  void write_bytes(const std::string& name, const ElementType& type, const Extents& extents,
                   std::span<const std::byte> bytes);
  void begin_rows(const std::string& name, const ElementType& type, const Extents& extents);
  void append_bytes(const ElementType& type, std::span<const std::byte> bytes);
  /// Reserves its space, too; `early`: gives it its place in the file. The caller closes it.
  [[nodiscard]] std::int64_t create_dataset(const DatasetInfo& info, bool early);
  void create_groups(const std::string& name);
  void reserve(std::uint64_t bytes);
  [[noreturn]] void fail(const std::string& what);
  void discard() noexcept;

  StagedFile staged_;
  std::string format_;
  std::int64_t file_ = -1;  // HDF5 handle
  std::uint64_t used_ = 0;  // bytes, once it is closed
  struct GrowingDataset {
    DatasetInfo info;
    std::int64_t handle;
    std::uint64_t rows;  // written so far
  };

  std::map<std::string, DatasetInfo> datasets_;
  std::optional<GrowingDataset> growing_;
  std::set<std::string> groups_;
};

/// Reads a file of ours that may come from anyone. Everything that it declares is checked before it is used: nothing is
/// allocated beyond the file's own size or the caller's bounds. Throws InputError naming file, field, expected, found.
class ReadFile {
 public:
  static constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();
  /// Opens and checks structure and root digest. An empty `format` accepts any of our files.
  explicit ReadFile(const std::filesystem::path& path, std::string_view format = {},
                    std::uint64_t max_bytes = any_size);
  ~ReadFile();
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
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
  /// The same into memory of the caller's.
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

 private:
  [[nodiscard]] const DatasetInfo& find(const std::string& name) const;
  [[nodiscard]] const DatasetInfo& find(const std::string& name, const ElementType& type) const;
  [[nodiscard]] const DatasetInfo& find(const std::string& name, const ElementType& type,
                                        const Extents& expected) const;
  [[nodiscard]] const DatasetInfo& find_text(const std::string& name, std::uint64_t max_bytes) const;
  void check_list(const DatasetInfo& info, std::uint64_t max_count) const;
  void require_digest(const DatasetInfo& info, const Digest& computed) const;
  void read_whole(const DatasetInfo& info, std::span<std::byte> bytes) const;
  /// From `begin` bytes into a dataset. Straight from the file: thousands of small parts are read for a proof, and each
  /// would take the library longer than the system.
  void read_bytes(const DatasetInfo& info, std::uint64_t begin, std::span<std::byte> bytes) const;
  template <Number T>
  [[nodiscard]] std::vector<T> read_checked(const DatasetInfo& info) const {
    std::vector<T> values(info.count());
    read_whole(info, std::as_writable_bytes(std::span(values)));
    return values;
  }
  void open(std::string_view format);
  /// Names and kinds (H5L_type_t) of what a group links to.
  [[nodiscard]] std::vector<std::pair<std::string, int>> links(std::int64_t group, const std::string& prefix) const;
  void walk(std::int64_t group, const std::string& prefix, unsigned depth);
  void add_dataset(std::int64_t parent, const std::string& name, const std::string& path);

  std::filesystem::path path_;
  std::string format_;
  std::int64_t file_ = -1;            // HDF5 handle
  std::span<const std::byte> image_;  // what keep_image() has kept of the file, if it has
  std::uint64_t file_bytes_ = 0;
  Digest digest_{};
  std::set<std::uint64_t> addresses_;  // of the objects seen
  std::map<std::string, DatasetInfo> datasets_;
};

/// Lower-case hexadecimal digits.
std::string to_hex(std::span<const std::uint8_t> bytes);
/// "(2, 3)".
std::string to_string(const Extents& extents);

}  // namespace tessera
