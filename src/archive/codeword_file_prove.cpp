#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <stdexcept>

#include "archive/codeword_file.hpp"
#include "archive/codeword_names.hpp"
#include "archive/parts_file.hpp"
#include "base/errors.hpp"
#include "cluster/agreement.hpp"
#include "words/compact_codeword.hpp"
#include "words/salted_leaves.hpp"
#include "plan/hiding.hpp"
#include "hash/merkle_tree.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// Each has a descriptor. What an opening wants of a shard is read while it is open.
constexpr std::size_t max_open_shards = 64;
/// Looked at before a proof begins.
constexpr std::size_t checked_shards = 256;

CodewordGeometry read_geometry(const DatasetFile& file) {
  CodewordGeometry geometry;
  geometry.rows = file.read_scalar<std::uint32_t>("row_count");
  geometry.log_columns = file.read_scalar<std::uint32_t>("log_columns");
  constexpr std::size_t group = CodewordGeometry::group_rows;
  constexpr std::size_t most_rows = std::size_t{1} << max_log_rows;
  if (geometry.rows < group || geometry.rows > most_rows || geometry.rows % group != 0 ||
      geometry.log_columns > F::two_adicity) {
    file.fail("row_count, log_columns",
              "a multiple of " + std::to_string(group) + " up to " + std::to_string(most_rows) + ", at most " +
                  std::to_string(F::two_adicity),
              std::to_string(geometry.rows) + ", " + std::to_string(geometry.log_columns));
  }
  if (file.contains("salt")) {
    geometry.salt = file.read_scalar<std::uint32_t>("salt");
    if (geometry.salt == 0 || geometry.salt > CodewordGeometry::group_rows) {
      file.fail("salt", "1 to " + std::to_string(CodewordGeometry::group_rows), std::to_string(geometry.salt));
    }
  }
  return geometry;
}

class CodewordFiles final : public StoredCodeword {
 public:
  CodewordFiles(fs::path directory, Communicator& comm) : directory_(std::move(directory)), comm_(comm) {
    header_ =
        read_at_root<Header>([&](std::vector<Header>& headers) {
          top_ = std::make_unique<PartsFile>(directory_ / "codeword.h5", codeword_format);
          Header& header = headers.emplace_back();
          header_.geometry = header.geometry = read_geometry(*top_);
          header.kind = read_kind(*top_);
          header.root = node(*top_, header.geometry.log_columns, header.geometry.log_columns, 0);
          std::ranges::copy(top_->read<std::uint8_t>("parameters_digest", {sizeof(Digest)}), header.parameters.begin());
          for (std::size_t number = 0; number < std::min(header.geometry.shards(), checked_shards); ++number) {
            (void)shard(number);  // a missing or foreign one is better found now
          }
        }).front();
  }

  [[nodiscard]] Digest root() const override { return header_.root; }
  [[nodiscard]] Digest parameters() const override { return header_.parameters; }
  [[nodiscard]] bool compact() const override { return header_.kind == CodewordKind::compact; }
  void bind(const OracleLayout& layout, const OracleParameters& parameters, Tensors tensors,
            std::shared_ptr<const KeyedStream> salt) override {
    const CodewordGeometry expected{static_cast<unsigned>(parameters.rows()), layout.log_domain(parameters),
                                    salt == nullptr ? 0U : static_cast<unsigned>(salt_elements)};
    if (header_.geometry != expected) {
      throw InputError((directory_ / "codeword.h5").string() + ": row_count, log_columns: expected " +
                       std::to_string(expected.rows) + ", " + std::to_string(expected.log_columns) + ", found " +
                       std::to_string(header_.geometry.rows) + ", " + std::to_string(header_.geometry.log_columns) +
                       (header_.geometry.salt == expected.salt ? "" : "; salt of another mode"));
    }
    compute_ = [layout, parameters, tensors = std::move(tensors), salt = std::move(salt),
                this](std::span<const std::size_t> positions) {
      std::vector<F> columns = columns_at(layout, parameters, tensors(), positions, comm_);
      return salt == nullptr ? columns
                             : with_extras(columns, salt_blocks(*salt, salt_elements, positions), salt_elements);
    };
  }

  std::vector<F> columns(std::span<const std::size_t> positions) override {
    std::vector<F> stored = read_opening(positions);
    if (header_.kind == CodewordKind::whole) {
      return stored;
    }
    if (!compute_) {
      throw std::logic_error("compact codeword: no tensors");
    }
    std::vector<F> columns = compute_(positions);
    check_columns(columns, positions, nodes(0, positions));
    return columns;
  }

  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override {
    return read_at_root<Digest>([&](std::vector<Digest>& found) {
      for (const std::size_t index : indices) {
        if (const auto known = known_.find({level, index}); known != known_.end()) {
          found.push_back(known->second);
        } else if (level < header_.geometry.log_shard_columns()) {
          const ShardNode place = in_shard({level, index});
          found.push_back(shard_node(shard(place.shard), level, place.index));
        } else {
          found.push_back(node(*top_, level, header_.geometry.log_columns, index));
        }
      }
    });
  }

 private:
  struct Header {
    CodewordGeometry geometry;
    CodewordKind kind = CodewordKind::whole;
    Digest root{}, parameters{};
  };

  static CodewordKind read_kind(const DatasetFile& file) {
    if (!file.contains("compact")) {
      return CodewordKind::whole;
    }
    if (const auto flag = file.read_scalar<std::uint8_t>("compact"); flag != 1) {
      file.fail("compact", "1, or no such dataset", std::to_string(flag));
    }
    return CodewordKind::compact;
  }

  /// A node of the whole tree by level and index.
  using Node = std::pair<unsigned, std::size_t>;
  struct ShardNode {
    std::size_t shard;
    std::size_t index;
  };
  [[nodiscard]] ShardNode in_shard(Node node) const {
    const unsigned below = header_.geometry.log_shard_columns() - node.first;
    return {node.second >> below, node.second & ((std::size_t{1} << below) - 1)};
  }

  /// What an opening wants of a shard.
  struct Wanted {
    std::vector<std::size_t> columns;  // places among the positions
    std::vector<Node> nodes;
  };

  /// By shard: the columns at `positions`, if they are stored, and the digests that authenticate them.
  [[nodiscard]] std::map<std::size_t, Wanted> wanted(std::span<const std::size_t> positions) const {
    const unsigned log_shard = header_.geometry.log_shard_columns();
    std::map<std::size_t, Wanted> result;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      Wanted& shard = result[positions[i] >> log_shard];
      if (header_.kind == CodewordKind::whole) {
        shard.columns.push_back(i);
      } else {
        shard.nodes.emplace_back(0, positions[i]);  // what computed columns are compared with
      }
    }
    const auto siblings =
        multiproof_siblings(distinct_positions({positions.begin(), positions.end()}), header_.geometry.log_columns);
    for (unsigned level = 0; level < log_shard; ++level) {
      for (const std::size_t index : siblings[level]) {
        result[in_shard({level, index}).shard].nodes.emplace_back(level, index);
      }
    }
    return result;
  }

  /// The stored columns at `positions`, and their digests into known_, a few shards at a time. Collective.
  std::vector<F> read_opening(std::span<const std::size_t> positions) {
    return read_at_root<F>([&](std::vector<F>& values) {
      known_.clear();
      const std::map<std::size_t, Wanted> all = wanted(positions);
      const std::size_t width = header_.geometry.leaf_values();
      values.resize(header_.kind == CodewordKind::whole ? positions.size() * width : 0);
      for (auto first = all.begin(); first != all.end();) {
        const auto left = static_cast<std::size_t>(std::distance(first, all.end()));
        const auto end = std::next(first, static_cast<std::ptrdiff_t>(std::min(left, max_open_shards)));
        const auto missing = static_cast<std::size_t>(
            std::count_if(first, end, [&](const auto& entry) { return !shards_.contains(entry.first); }));
        if (shards_.size() + missing > max_open_shards) {
          shards_.clear();
        }
        auto last = first;
        for (; last != end; ++last) {
          expect(shard(last->first), last->second, positions);
        }
        for (; first != last; ++first) {
          const DatasetFile& file = shard(first->first);
          for (const std::size_t i : first->second.columns) {
            read_column(file, positions[i], std::span(values).subspan(i * width, width));
          }
          for (const Node& node : first->second.nodes) {
            known_[node] = shard_node(file, node.first, in_shard(node).index);
          }
        }
      }
    });
  }

  [[nodiscard]] Extents row_extents() const {
    return {header_.geometry.groups(), header_.geometry.shard_columns(), CodewordGeometry::group_rows};
  }
  /// Where a group of rows of a column begins in its shard.
  [[nodiscard]] std::size_t row_place(std::size_t position, std::size_t group) const {
    const std::size_t column = position & (header_.geometry.shard_columns() - 1);
    return (group * header_.geometry.shard_columns() + column) * CodewordGeometry::group_rows;
  }

  /// Tells the system what is going to be read.
  void expect(const DatasetFile& file, const Wanted& wanted, std::span<const std::size_t> positions) const {
    for (const std::size_t i : wanted.columns) {
      for (std::size_t group = 0; group < header_.geometry.groups(); ++group) {
        file.expect_part<std::uint64_t>("rows", row_extents(), row_place(positions[i], group),
                                        CodewordGeometry::group_rows);
      }
    }
    for (const Node& node : wanted.nodes) {
      expect_node(file, node.first, in_shard(node).index);
    }
  }

  void read_column(const DatasetFile& file, std::size_t position, std::span<F> values) const {
    constexpr std::size_t group_rows = CodewordGeometry::group_rows;
    std::array<std::uint64_t, group_rows> part;
    auto to = values.begin();
    for (std::size_t group = 0; group < header_.geometry.groups(); ++group) {
      file.read_part("rows", row_extents(), row_place(position, group), std::span<std::uint64_t>(part));
      const std::size_t rest = header_.geometry.leaf_values() - group * group_rows;
      for (const std::uint64_t value : std::span(part).first(std::min(rest, group_rows))) {
        if (value >= F::modulus) {
          file.fail("rows", "values below p", "a larger one in column " + std::to_string(position));
        }
        *to++ = F::from_unsigned(value);
      }
    }
  }

  /// Node `index` of `level` of a tree part whose single top node lies at level `top`.
  static Digest node(const DatasetFile& file, unsigned level, unsigned top, std::size_t index) {
    Digest digest;
    file.read_part(level_name(level), {std::size_t{1} << (top - level), sizeof(Digest)}, index * sizeof(Digest),
                   std::span<std::uint8_t>(digest));
    return digest;
  }

  Digest shard_node(const DatasetFile& file, unsigned level, std::size_t index) const {
    const unsigned top = header_.geometry.log_shard_columns();
    if (has_level(header_.kind, level)) {
      return node(file, level, top, index);
    }
    TreeLevel leaves(std::size_t{1} << level);
    file.read_part(level_name(0), {std::size_t{1} << top, sizeof(Digest)}, index * leaves.size() * sizeof(Digest),
                   std::span(leaves.front().data(), leaves.size() * sizeof(Digest)));
    return merkle_levels(std::move(leaves)).back().front();
  }

  void expect_node(const DatasetFile& file, unsigned level, std::size_t index) const {
    const unsigned top = header_.geometry.log_shard_columns();
    const unsigned stored = has_level(header_.kind, level) ? level : 0;
    const std::size_t count = std::size_t{1} << (level - stored);
    file.expect_part<std::uint8_t>(level_name(stored), {std::size_t{1} << (top - stored), sizeof(Digest)},
                                   index * count * sizeof(Digest), count * sizeof(Digest));
  }

  /// What `read` appends on rank 0, for all; its error becomes everyone's error, so that no rank waits.
  template <class T, class Read>
  std::vector<T> read_at_root(const Read& read) {
    std::vector<T> values;
    fail_together(comm_, [&] {
      if (comm_.rank() == 0) {
        read(values);
      }
    });
    return comm_.all_gather(std::span<const T>(values));  // the others have nothing to add
  }

  const PartsFile& shard(std::size_t number) {
    if (shards_.size() >= max_open_shards && !shards_.contains(number)) {
      shards_.clear();
    }
    std::unique_ptr<PartsFile>& file = shards_[number];
    if (!file) {
      file = std::make_unique<PartsFile>(shard_path(directory_, number), shard_format);
      if (read_geometry(*file) != header_.geometry || file->read_scalar<std::uint64_t>("index") != number) {
        file->fail("index, geometry", "those of shard " + std::to_string(number) + " of codeword.h5", "others");
      }
    }
    return *file;
  }

  fs::path directory_;
  Communicator& comm_;
  Header header_;
  std::function<std::vector<F>(std::span<const std::size_t> positions)> compute_;  // of a compact one
  std::unique_ptr<PartsFile> top_;
  std::map<std::size_t, std::unique_ptr<PartsFile>> shards_;
  std::map<Node, Digest> known_;  // on rank 0, of the columns asked for last
};

}  // namespace

std::unique_ptr<StoredCodeword> open_codeword(const fs::path& directory, Communicator& comm) {
  return std::make_unique<CodewordFiles>(directory, comm);
}

}  // namespace tessera
