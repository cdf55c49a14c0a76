#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/staged_file.hpp"
#include "datasets/dataset_file.hpp"

/// \file
/// Our files are HDF5 (serial library, format of version 1.10) of one strict kind, so that h5py users can read them and
/// a hostile file can do nothing:
///   - groups and datasets under hard links only, every object linked once, links in dense storage
///     (H5Pset_link_phase_change(list, 0, 0));
///   - datasets of fixed-width little-endian numbers or fixed-length UTF-8 strings, contiguous in the file itself:
///     no chunks, filters, external or virtual storage;
///   - every dataset has the attribute `digest`, by DatasetHash;
///   - the root has `format` (e.g. "tessera proof"), `format_version` and `digest` = BLAKE2s-256 of format, version and
///     all datasets' (name, type, extents, digest) sorted by name: see file_digest().
/// Opening a file checks the root digest; reading a dataset checks its own, so parts that are not read cost nothing.
/// The HDF5 library is not thread-safe: use from one thread at a time.

namespace tessera {

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
  /// Completes the file as commit() does, but another thread waits for the disk: get() gives its errors. This must live
  /// until then.
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

/// Reads a file of ours through the HDF5 library.
class ReadFile : public DatasetFile {
 public:
  /// Opens and checks structure and root digest. An empty `format` accepts any of our files.
  explicit ReadFile(const std::filesystem::path& path, std::string_view format = {},
                    std::uint64_t max_bytes = any_size);
  ~ReadFile() override;
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  /// Straight from the file: thousands of small parts are read for a proof, and each would take the library longer than
  /// the system. Threads may read side by side. The library has closed the file again: its tables take 0.7 MB for each.
  void read_at(const DatasetInfo& info, std::uint64_t offset, std::span<std::byte> bytes) const override;
  void expect_at(std::uint64_t offset, std::uint64_t bytes) const override;
  void open(std::int64_t file, std::string_view format);
  /// Names and kinds (H5L_type_t) of what a group links to.
  [[nodiscard]] std::vector<std::pair<std::string, int>> links(std::int64_t group, const std::string& prefix) const;
  void walk(std::int64_t group, const std::string& prefix, unsigned depth);
  void read_dataset(std::int64_t parent, const std::string& name, const std::string& path);

  std::filesystem::path path_;
  int descriptor_ = -1;               // of the system
  std::span<const std::byte> image_;  // of the file, if read_isolated_by_library() reads it
};

}  // namespace tessera
