#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

#include "archive/codeword_file.hpp"
#include "archive/codeword_names.hpp"
#include "archive/hdf5.hpp"
#include "base/errors.hpp"
#include "cluster/agreement.hpp"
#include "commitment/compact_codeword.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_open_shards = 128;  // file descriptors

CodewordGeometry read_geometry(const ReadFile& file) {
  CodewordGeometry geometry;
  geometry.log_rows = file.read_scalar<std::uint32_t>("log_rows");
  geometry.log_columns = file.read_scalar<std::uint32_t>("log_columns");
  if (geometry.log_rows < 3 || geometry.log_rows > max_log_rows || geometry.log_columns > F::two_adicity) {
    file.fail("log_rows, log_columns",
              "3 to " + std::to_string(max_log_rows) + ", at most " + std::to_string(F::two_adicity),
              std::to_string(geometry.log_rows) + ", " + std::to_string(geometry.log_columns));
  }
  return geometry;
}

class CodewordFiles final : public StoredCodeword {
 public:
  CodewordFiles(fs::path directory, Communicator& comm) : directory_(std::move(directory)), comm_(comm) {
    header_ =
        read_at_root<Header>([&](std::vector<Header>& headers) {
          top_ = std::make_unique<ReadFile>(directory_ / "codeword.h5", codeword_format);
          Header& header = headers.emplace_back();
          header_.geometry = header.geometry = read_geometry(*top_);
          header.root = node(*top_, header.geometry.log_columns, header.geometry.log_columns, 0);
          std::ranges::copy(top_->read<std::uint8_t>("parameters_digest", {sizeof(Digest)}), header.parameters.begin());
          for (std::size_t number = 0; number < std::min(header.geometry.shards(), max_open_shards); ++number) {
            (void)shard(number);  // a missing or foreign one is better found now
          }
        }).front();
  }

  [[nodiscard]] Digest root() const override { return header_.root; }
  [[nodiscard]] Digest parameters() const override { return header_.parameters; }
  void bind(const OracleLayout& /*layout*/, const OracleParameters& /*parameters*/,
            std::vector<IntegerTensor> /*tensors*/) override {}

  std::vector<F> columns(std::span<const std::size_t> positions) override {
    return read_at_root<F>([&](std::vector<F>& values) {
      const CodewordGeometry& geometry = header_.geometry;
      constexpr std::size_t group_rows = CodewordGeometry::group_rows;
      const Extents extents{geometry.groups(), geometry.shard_columns(), group_rows};
      std::array<std::uint64_t, group_rows> part;
      for (const std::size_t position : positions) {
        const ReadFile& file = shard(position >> geometry.log_shard_columns());
        const std::size_t place = position & (geometry.shard_columns() - 1);
        for (std::size_t group = 0; group < geometry.groups(); ++group) {
          file.read_part("rows", extents, (group * geometry.shard_columns() + place) * group_rows,
                         std::span<std::uint64_t>(part));
          for (const std::uint64_t value : part) {
            if (value >= F::modulus) {
              file.fail("rows", "values below p", "a larger one in column " + std::to_string(position));
            }
            values.push_back(F::from_unsigned(value));
          }
        }
      }
    });
  }

  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override {
    return read_at_root<Digest>([&](std::vector<Digest>& found) {
      const CodewordGeometry& geometry = header_.geometry;
      for (const std::size_t index : indices) {
        if (level >= geometry.log_shard_columns()) {
          found.push_back(node(*top_, level, geometry.log_columns, index));
        } else {
          const unsigned below = geometry.log_shard_columns() - level;
          found.push_back(node(shard(index >> below), level, geometry.log_shard_columns(),
                               index & ((std::size_t{1} << below) - 1)));
        }
      }
    });
  }

 private:
  struct Header {
    CodewordGeometry geometry;
    Digest root{}, parameters{};
  };

  /// Node `index` of `level` of a tree part whose single top node lies at level `top`.
  static Digest node(const ReadFile& file, unsigned level, unsigned top, std::size_t index) {
    Digest digest;
    file.read_part(level_name(level), {std::size_t{1} << (top - level), sizeof(Digest)}, index * sizeof(Digest),
                   std::span<std::uint8_t>(digest));
    return digest;
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

  const ReadFile& shard(std::size_t number) {
    if (shards_.size() >= max_open_shards && !shards_.contains(number)) {
      shards_.clear();
    }
    std::unique_ptr<ReadFile>& file = shards_[number];
    if (!file) {
      file = std::make_unique<ReadFile>(shard_path(directory_, number), shard_format);
      if (read_geometry(*file) != header_.geometry || file->read_scalar<std::uint64_t>("index") != number) {
        file->fail("index, geometry", "those of shard " + std::to_string(number) + " of codeword.h5", "others");
      }
    }
    return *file;
  }

  fs::path directory_;
  Communicator& comm_;
  Header header_;
  std::unique_ptr<ReadFile> top_;
  std::map<std::size_t, std::unique_ptr<ReadFile>> shards_;
};

/// The nodes of one level, and the tensors once they are there.
class CompactFile final : public StoredCodeword {
 public:
  CompactFile(const fs::path& directory, Communicator& comm) : comm_(comm) {
    std::vector<Digest> nodes;
    std::array<std::uint64_t, 3> sizes{};
    fail_together(comm, [&] {
      if (comm.rank() != 0) {
        return;
      }
      const ReadFile file(directory / "codeword.h5", codeword_format);
      const CodewordGeometry geometry = read_geometry(file);
      const auto level = file.read_scalar<std::uint32_t>("compact_level");
      if (level > std::min(geometry.log_columns, upper_levels)) {
        file.fail("compact_level", "at most " + std::to_string(std::min(geometry.log_columns, upper_levels)),
                  std::to_string(level));
      }
      sizes = {geometry.log_rows, geometry.log_columns, level};
      nodes.resize(std::size_t{1} << (geometry.log_columns - level));
      std::vector<std::uint8_t> bytes(nodes.size() * sizeof(Digest));
      file.read_into<std::uint8_t>(level_name(level), {nodes.size(), sizeof(Digest)}, bytes);
      std::memcpy(nodes.data(), bytes.data(), bytes.size());
      std::ranges::copy(file.read<std::uint8_t>("parameters_digest", {sizeof(Digest)}), parameters_.begin());
    });
    const auto shared =
        comm.all_gather(comm.rank() == 0 ? std::span<const std::uint64_t>(sizes) : std::span<const std::uint64_t>());
    geometry_ = {static_cast<unsigned>(shared[0]), static_cast<unsigned>(shared[1])};
    level_ = static_cast<unsigned>(shared[2]);
    const auto digests = comm.all_gather(std::span<const Digest>(nodes));
    nodes_.assign(digests.begin(), digests.end());
    parameters_ =
        comm.all_gather(comm.rank() == 0 ? std::span<const Digest>(&parameters_, 1) : std::span<const Digest>())
            .front();
    root_ = merkle_levels(nodes_).back().front();
  }

  [[nodiscard]] Digest root() const override { return root_; }
  [[nodiscard]] Digest parameters() const override { return parameters_; }
  void bind(const OracleLayout& layout, const OracleParameters& parameters,
            std::vector<IntegerTensor> tensors) override {
    const CodewordGeometry expected{parameters.log_rows,
                                    layout.log_size() - parameters.log_rows + parameters.log_inverse_rate};
    if (geometry_ != expected || compact_level(layout, parameters, level_) != level_) {
      throw InputError("codeword.h5: log_rows, log_columns: expected " + std::to_string(expected.log_rows) + ", " +
                       std::to_string(expected.log_columns) + ", found " + std::to_string(geometry_.log_rows) + ", " +
                       std::to_string(geometry_.log_columns));
    }
    store_.emplace(layout, parameters, std::move(tensors), nodes_, comm_, level_);
  }
  std::vector<F> columns(std::span<const std::size_t> positions) override { return store().columns(positions); }
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override {
    return store().nodes(level, indices);
  }

 private:
  CompactCodewordStore& store() {
    if (!store_) {
      throw std::logic_error("compact codeword: no tensors");
    }
    return *store_;
  }

  Communicator& comm_;
  CodewordGeometry geometry_;
  unsigned level_ = 0;
  TreeLevel nodes_;
  Digest parameters_{}, root_{};
  std::optional<CompactCodewordStore> store_;
};

/// Whether a commitment is compact. Collective.
bool is_compact(const fs::path& directory, Communicator& comm) {
  bool compact = false;
  fail_together(comm, [&] {
    compact = comm.rank() == 0 && ReadFile(directory / "codeword.h5", codeword_format).contains("compact_level");
  });
  std::array<std::int64_t, 1> flag{compact ? 1 : 0};
  comm.all_reduce_max(std::span(flag));
  return flag[0] == 1;
}

}  // namespace

std::unique_ptr<StoredCodeword> open_codeword(const fs::path& directory, Communicator& comm) {
  if (is_compact(directory, comm)) {
    return std::make_unique<CompactFile>(directory, comm);
  }
  return std::make_unique<CodewordFiles>(directory, comm);
}

}  // namespace tessera
