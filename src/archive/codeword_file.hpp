#pragma once

#include <filesystem>
#include <memory>
#include "opening/opening.hpp"
#include "words/row_groups.hpp"
#include "hash/keyed_stream.hpp"
#include "memory/storage.hpp"

namespace tessera {

inline constexpr std::string_view codeword_format = "tessera codeword";
inline constexpr std::string_view shard_format = "tessera codeword rows";

/// How a codeword is cut into files: 2^log_columns columns of `rows` values; shard i holds the columns
/// [i, i+1) * 2^log_shard_columns and the part of the Merkle tree above them. The cut depends on the size only, so the
/// files are the same for any number of ranks.
struct CodewordGeometry {
  static constexpr unsigned max_log_shard_columns = 16;
  unsigned rows = 0;
  unsigned log_columns = 0;
  unsigned salt = 0;  // elements that follow a column in its leaf, in a group of their own with zeros; hiding mode
  [[nodiscard]] unsigned log_shard_columns() const { return std::min(log_columns, max_log_shard_columns); }
  [[nodiscard]] std::size_t shard_columns() const { return std::size_t{1} << log_shard_columns(); }
  [[nodiscard]] std::size_t shards() const { return std::size_t{1} << (log_columns - log_shard_columns()); }
  /// Rows that lie side by side in a shard (a block of the hash); a column is in groups() places.
  static constexpr std::size_t group_rows = 8;
  [[nodiscard]] std::size_t groups() const { return (std::size_t{rows} + salt + group_rows - 1) / group_rows; }
  [[nodiscard]] std::size_t leaf_values() const { return std::size_t{rows} + salt; }
  friend bool operator==(const CodewordGeometry&, const CodewordGeometry&) = default;
};

/// Writes a codeword as it is made, a group of rows at a time: nobody holds it. Each rank writes whole shards.
///
/// codeword-<shard>.h5: `rows` (rows / 8, shard columns, 8) uint64, tree/level-<nn> (nodes, 32) uint8 for the levels
/// 0 .. log_shard_columns - 1, `index`, `row_count`, `log_columns`. codeword.h5: the levels log_shard_columns ..
/// log_columns (shard roots up to the root), the geometry and `parameters_digest` (32) uint8 of the model file whose
/// parameters are encoded; written last, so that its presence says that all shards are there.
///
/// One of a hiding key says `salt` (uint32) after the geometry, in all files, and has a group more.
///
/// A compact one has no `rows`, and says so in codeword.h5 with `compact` = 1: its columns are computed again. Of the
/// tree it has the leaves and, at half their size and less, no level below `upper_levels`.
enum class CodewordKind : std::uint8_t { whole, compact };

class CodewordWriter {
 public:
  /// A directory to write a codeword of at least 8 rows to. Collective, as the other functions: a rank's error is every
  /// rank's.
  CodewordWriter(std::filesystem::path directory, const CodewordGeometry& geometry, Communicator& comm,
                 CodewordKind kind = CodewordKind::whole);
  ~CodewordWriter();
  CodewordWriter(const CodewordWriter&) = delete;
  CodewordWriter& operator=(const CodewordWriter&) = delete;
  /// The columns that this rank writes, possibly none.
  [[nodiscard]] Range columns() const;
  /// The next rows, as encode_rows() gives them: `count` (a multiple of 8) of every column of this
  /// rank, column after column.
  void append(std::size_t count, std::span<const F> values);
  /// In hiding mode, after all rows: appends `salt` elements of each column.
  void append_salt(std::span<const F> values);
  /// Completes the files when all rows are appended; returns the root. Collective.
  Digest finish(const Digest& parameters);

 private:
  struct Shards;

  std::filesystem::path directory_;
  CodewordGeometry geometry_;
  Communicator& comm_;
  CodewordKind kind_;
  std::unique_ptr<Shards> shards_;
};

class StoredCodeword : public CodewordStore {
 public:
  /// parameters_digest of the model file that was committed: names another model before anything is proven.
  [[nodiscard]] virtual Digest parameters() const = 0;
  using Tensors = std::function<std::vector<IntegerTensor>()>;
  /// Gives the tensors that were committed, which must outlive the store's use: a compact codeword is computed from
  /// them, and `salt` in hiding mode.
  virtual void bind(const OracleLayout& layout, const OracleParameters& parameters, Tensors tensors,
                    std::shared_ptr<const KeyedStream> salt = {}) = 0;
  /// Whether columns are computed from the tensors.
  [[nodiscard]] virtual bool compact() const = 0;
};

/// A committed codeword on disk, whole or compact. Rank 0 opens the shards at once, so that a missing or foreign one is
/// found, reads what is asked and broadcasts it; nothing else is read. Columns are not checked against the files'
/// digests (that would read everything): whoever proves checks the finished proof, and `tessera inspect --check` reads
/// all.
std::unique_ptr<StoredCodeword> open_codeword(const std::filesystem::path& directory, Communicator& comm);

}  // namespace tessera
