#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <tessera/commitment/merkle_tree.hpp>
#include <tessera/commitment/opening.hpp>

namespace tessera {

inline constexpr std::string_view codeword_format = "tessera codeword";
inline constexpr std::string_view shard_format = "tessera codeword shard";

/// How a codeword is cut into files: 2^log_columns columns of 2^log_rows values; shard i holds the columns
/// [i, i+1) * 2^log_shard_columns and the part of the Merkle tree above them. The cut depends on the size only, so the
/// files are the same for any number of ranks.
struct CodewordGeometry {
  static constexpr unsigned max_log_shard_columns = 16;
  unsigned log_rows = 0;
  unsigned log_columns = 0;
  [[nodiscard]] unsigned log_shard_columns() const { return std::min(log_columns, max_log_shard_columns); }
  [[nodiscard]] std::size_t shard_columns() const { return std::size_t{1} << log_shard_columns(); }
  [[nodiscard]] std::size_t shards() const { return std::size_t{1} << (log_columns - log_shard_columns()); }
  friend bool operator==(const CodewordGeometry&, const CodewordGeometry&) = default;
};

/// Writes codeword-<shard>.h5: `columns` (shard columns, rows) uint64, tree/level-<nn> (nodes, 32) uint8 for the levels
/// 0 .. log_shard_columns - 1, `index`, `log_rows`, `log_columns`. Any rank may write any shard; `levels` may have
/// more. `columns_digest`: BLAKE2s-256 of the columns' bytes if it is known. The shard is on disk when the result is
/// there.
std::future<void> save_codeword_shard(const std::filesystem::path& directory, const CodewordGeometry& geometry,
                                      std::size_t shard, std::span<const F> columns,
                                      std::span<const TreeLevel> levels,
                                      const Digest* columns_digest = nullptr);
/// Writes codeword.h5: the levels log_shard_columns .. log_columns (shard roots up to the root), the geometry and
/// `parameters_digest` (32) uint8 of the model file whose parameters are encoded. Last, so that its presence says that
/// all shards are there.
void save_codeword_top(const std::filesystem::path& directory, const CodewordGeometry& geometry,
                       std::span<const TreeLevel> levels, const Digest& parameters);
/// Writes all files of a codeword that lies across the ranks: this rank has the columns from `first_column` on
/// (contiguous ranges in rank order) and all levels of the tree. Ranks write in turn whole shards. Collective.
void save_codeword(const std::filesystem::path& directory, const CodewordGeometry& geometry, std::size_t first_column,
                   std::span<const F> columns, std::span<const TreeLevel> levels, const Digest& parameters,
                   Communicator& comm);

class StoredCodeword : public CodewordStore {
 public:
  /// parameters_digest of the model file that was committed: names another model before anything is proven.
  [[nodiscard]] virtual Digest parameters() const = 0;
};

/// A committed codeword on disk. Rank 0 reads what is asked and broadcasts it; nothing else is read. Columns are not
/// checked against the files' digests (that would read everything): whoever proves checks
/// the finished proof, and `tessera inspect --check` reads all.
std::unique_ptr<StoredCodeword> open_codeword(const std::filesystem::path& directory, Communicator& comm);

}  // namespace tessera
