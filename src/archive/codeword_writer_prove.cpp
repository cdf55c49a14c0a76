#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <stdexcept>
#include "archive/codeword_file.hpp"
#include "archive/hdf5.hpp"
#include "cluster/agreement.hpp"
#include "hash/merkle_tree.hpp"

#include "archive/codeword_names.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_unwritten = 4;  // shards that wait for the disk

void write_geometry(WriteFile& file, const CodewordGeometry& geometry) {
  file.write_scalar<std::uint32_t>("row_count", geometry.rows);
  file.write_scalar<std::uint32_t>("log_columns", geometry.log_columns);
  if (geometry.salt > 0) {
    file.write_scalar<std::uint32_t>("salt", geometry.salt);
  }
}

void write_level(WriteFile& file, unsigned level, std::span<const Digest> nodes) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(nodes.data()), nodes.size_bytes());
  file.write(level_name(level), bytes, {nodes.size(), sizeof(Digest)});
}

/// All shards of a rank are open together, each with two descriptors.
void allow_open_files(std::size_t shards) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * shards + 256) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 2 * shards + 256);
    (void)setrlimit(RLIMIT_NOFILE, &limit);  // if this is refused, opening says so
  }
}

std::size_t first_shard(std::size_t shards, int rank, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  return (shards * static_cast<std::size_t>(rank) + count - 1) / count;
}

}  // namespace

struct CodewordWriter::Shards {
  Shards(std::size_t first_shard, std::size_t end_shard, const CodewordGeometry& geometry)
      : first(first_shard),
        count(end_shard - first_shard),
        leaves(count << geometry.log_shard_columns(), geometry.groups() * CodewordGeometry::group_rows * sizeof(F)),
        contents(count,
                 DatasetHash(geometry.shard_columns() * geometry.groups() * CodewordGeometry::group_rows * sizeof(F),
                             blake2s_lanes)) {}

  std::size_t first;
  std::size_t count;
  std::deque<WriteFile> files;
  ColumnHasher leaves;                ///< of the columns
  std::vector<DatasetHash> contents;  ///< of the shards' rows
};

CodewordWriter::CodewordWriter(fs::path directory, const CodewordGeometry& geometry, Communicator& comm,
                               CodewordKind kind)
    : directory_(std::move(directory)),
      geometry_(geometry),
      comm_(comm),
      kind_(kind),
      shards_(std::make_unique<Shards>(first_shard(geometry.shards(), comm.rank(), comm.size()),
                                       first_shard(geometry.shards(), comm.rank() + 1, comm.size()), geometry)) {
  if (geometry.rows < CodewordGeometry::group_rows) {
    throw std::invalid_argument("CodewordWriter: fewer than 8 rows");
  }
  allow_open_files(shards_->count);
  fail_together(comm_, [&] {
    for (std::size_t i = 0; i < shards_->count; ++i) {
      WriteFile& file = shards_->files.emplace_back(shard_path(directory_, shards_->first + i), shard_format);
      write_geometry(file, geometry_);
      file.write_scalar<std::uint64_t>("index", shards_->first + i);
      if (kind == CodewordKind::whole) {
        file.begin_rows<std::uint64_t>("rows",
                                       {geometry_.groups(), geometry_.shard_columns(), CodewordGeometry::group_rows});
      }
    }
  });
}

CodewordWriter::~CodewordWriter() = default;

Range CodewordWriter::columns() const {
  return {shards_->first << geometry_.log_shard_columns(), (shards_->first + shards_->count)
                                                               << geometry_.log_shard_columns()};
}

void CodewordWriter::append(std::size_t count, std::span<const F> values) {
  const auto bytes_of = [](std::span<const F> part) {
    return std::span(reinterpret_cast<const std::uint8_t*>(part.data()), part.size_bytes());
  };
  constexpr std::size_t group = CodewordGeometry::group_rows;
  const std::size_t columns = shards_->count << geometry_.log_shard_columns();
  const std::size_t shard_values = geometry_.shard_columns() * group;
  RawVector<F> copy(count == group ? 0 : columns * group);
  for (std::size_t row = 0; row < count; row += group) {
    std::span<const F> part = values;
    if (count != group) {
#pragma omp parallel for schedule(static)
      for (std::size_t column = 0; column < columns; ++column) {
        std::memcpy(static_cast<void*>(copy.data() + column * group), values.data() + column * count + row,
                    group * sizeof(F));
      }
      part = copy;
    }
    shards_->leaves.absorb(bytes_of(part), group * sizeof(F));
    if (kind_ == CodewordKind::compact) {
      continue;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t i = 0; i < shards_->count; ++i) {
      shards_->contents[i].update(bytes_of(part.subspan(i * shard_values, shard_values)));
    }
    fail_together(comm_, [&] {
      for (std::size_t i = 0; i < shards_->count; ++i) {
        const std::span<const F> shard = part.subspan(i * shard_values, shard_values);
        shards_->files[i].append_rows<std::uint64_t>(
            {reinterpret_cast<const std::uint64_t*>(shard.data()), shard.size()});
      }
    });
  }
}

void CodewordWriter::append_salt(std::span<const F> values) {
  constexpr std::size_t group = CodewordGeometry::group_rows;
  const std::size_t columns = shards_->count << geometry_.log_shard_columns();
  RawVector<F> block(columns * group);
#pragma omp parallel for schedule(static)
  for (std::size_t column = 0; column < columns; ++column) {
    F* const to = std::copy_n(values.data() + column * geometry_.salt, geometry_.salt, block.data() + column * group);
    std::fill(to, block.data() + (column + 1) * group, F::zero());
  }
  append(group, block);
}

Digest CodewordWriter::finish(const Digest& parameters) {
  TreeLevel nodes = std::move(shards_->leaves).digests();
  fail_together(comm_, [&] {
    if (kind_ == CodewordKind::whole) {
      for (std::size_t i = 0; i < shards_->count; ++i) {
        shards_->files[i].end_rows(shards_->contents[i].digest());
      }
    }
    for (unsigned level = 0; level < geometry_.log_shard_columns(); ++level) {
      const std::size_t count = geometry_.shard_columns() >> level;
      for (std::size_t i = 0; has_level(kind_, level) && i < shards_->count; ++i) {
        write_level(shards_->files[i], level, std::span(nodes).subspan(i * count, count));
      }
      nodes = merkle_parents(nodes);
    }
    std::deque<std::future<void>> written;
    for (WriteFile& file : shards_->files) {
      written.push_back(file.commit_later());
      if (written.size() > most_unwritten) {
        written.front().get();
        written.pop_front();
      }
    }
    for (std::future<void>& shard : written) {
      shard.get();
    }
  });
  const std::vector<Digest> roots = comm_.all_gather<Digest>(nodes);
  const std::vector<TreeLevel> levels = merkle_levels({roots.begin(), roots.end()});
  fail_together(comm_, [&] {
    if (comm_.rank() == 0) {
      WriteFile file(directory_ / "codeword.h5", codeword_format);
      write_geometry(file, geometry_);
      if (kind_ == CodewordKind::compact) {
        file.write_scalar<std::uint8_t>("compact", 1);
      }
      file.write("parameters_digest", std::span<const std::uint8_t>(parameters), {parameters.size()});
      for (unsigned level = geometry_.log_shard_columns(); level <= geometry_.log_columns; ++level) {
        write_level(file, level, levels[level - geometry_.log_shard_columns()]);
      }
      file.commit();
    }
  });
  return levels.back().front();
}

}  // namespace tessera
