#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <tessera/archive/codeword_file.hpp>
#include <tessera/archive/hdf5.hpp>
#include <tessera/commitment/merkle_tree.hpp>
#include <tessera/protocol/limits.hpp>

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_open_shards = 128;  // file descriptors
constexpr std::size_t most_unwritten = 4;     // shards that wait for the disk

std::string padded(std::size_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits > text.size() ? digits - text.size() : 0, '0') + text;
}

std::string level_name(unsigned level) { return "tree/level-" + padded(level, 2); }
fs::path shard_path(const fs::path& directory, std::size_t shard) {
  return directory / ("codeword-" + padded(shard, 5) + ".h5");
}

void write_geometry(WriteFile& file, const CodewordGeometry& geometry) {
  file.write_scalar<std::uint32_t>("log_rows", geometry.log_rows);
  file.write_scalar<std::uint32_t>("log_columns", geometry.log_columns);
}

void write_level(WriteFile& file, unsigned level, std::span<const Digest> nodes) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(nodes.data()), nodes.size_bytes());
  file.write(level_name(level), bytes, {nodes.size(), sizeof(Digest)});
}

CodewordGeometry read_geometry(const ReadFile& file) {
  CodewordGeometry geometry;
  geometry.log_rows = file.read_scalar<std::uint32_t>("log_rows");
  geometry.log_columns = file.read_scalar<std::uint32_t>("log_columns");
  if (geometry.log_rows > max_log_rows || geometry.log_columns > F::two_adicity) {
    file.fail("log_rows, log_columns",
              "at most " + std::to_string(max_log_rows) + ", " + std::to_string(F::two_adicity),
              std::to_string(geometry.log_rows) + ", " + std::to_string(geometry.log_columns));
  }
  return geometry;
}

class CodewordFiles final : public StoredCodeword {
 public:
  CodewordFiles(fs::path directory, Communicator& comm) : directory_(std::move(directory)), comm_(comm) {
    std::vector<std::byte> header = read_at_root([&] {
      top_ = std::make_unique<ReadFile>(directory_ / "codeword.h5", codeword_format);
      geometry_ = read_geometry(*top_);
      std::vector<std::byte> bytes(sizeof(geometry_));
      std::memcpy(bytes.data(), &geometry_, sizeof(geometry_));
      append_nodes(bytes, *top_, geometry_.log_columns, geometry_.log_columns, 0);
      const std::vector<std::uint8_t> parameters = top_->read<std::uint8_t>("parameters_digest", {sizeof(Digest)});
      const std::span<const std::byte> raw = std::as_bytes(std::span(parameters));
      bytes.insert(bytes.end(), raw.begin(), raw.end());
      for (std::size_t number = 0; number < std::min(geometry_.shards(), max_open_shards); ++number) {
        (void)shard(number);  // a missing or foreign one is better found now
      }
      return bytes;
    });
    std::memcpy(&geometry_, header.data(), sizeof(geometry_));
    std::memcpy(root_.data(), header.data() + sizeof(geometry_), sizeof(root_));
    std::memcpy(parameters_.data(), header.data() + sizeof(geometry_) + sizeof(root_), sizeof(parameters_));
  }

  [[nodiscard]] Digest root() const override { return root_; }
  [[nodiscard]] Digest parameters() const override { return parameters_; }

  std::vector<F> columns(std::span<const std::size_t> positions) override {
    const std::vector<std::byte> bytes = read_at_root([&] {
      const std::size_t rows = std::size_t{1} << geometry_.log_rows;
      std::vector<std::byte> all;
      for (const std::size_t position : positions) {
        const ReadFile& file = shard(position >> geometry_.log_shard_columns());
        const std::vector<std::uint64_t> column = file.read_rows<std::uint64_t>(
            "columns", {geometry_.shard_columns(), rows}, position & (geometry_.shard_columns() - 1), 1);
        if (!std::ranges::all_of(column, [](std::uint64_t value) { return value < F::modulus; })) {
          file.fail("columns", "values below p", "a larger one in column " + std::to_string(position));
        }
        const std::span<const std::byte> raw = std::as_bytes(std::span(column));
        all.insert(all.end(), raw.begin(), raw.end());
      }
      return all;
    });
    std::vector<F> values(bytes.size() / sizeof(F));
    if (!bytes.empty()) {
      std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    }
    return values;
  }

  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override {
    const std::vector<std::byte> bytes = read_at_root([&] {
      std::vector<std::byte> all;
      for (const std::size_t index : indices) {
        if (level >= geometry_.log_shard_columns()) {
          append_nodes(all, *top_, level, geometry_.log_columns, index);
        } else {
          const unsigned below = geometry_.log_shard_columns() - level;
          append_nodes(all, shard(index >> below), level, geometry_.log_shard_columns(),
                       index & ((std::size_t{1} << below) - 1));
        }
      }
      return all;
    });
    std::vector<Digest> digests(bytes.size() / sizeof(Digest));
    if (!bytes.empty()) {
      std::memcpy(digests.data(), bytes.data(), bytes.size());
    }
    return digests;
  }

 private:
  /// Node `index` of `level` of a tree part whose single top node lies at level `top`.
  static void append_nodes(std::vector<std::byte>& bytes, const ReadFile& file, unsigned level, unsigned top,
                           std::size_t index) {
    const std::vector<std::uint8_t> node =
        file.read_rows<std::uint8_t>(level_name(level), {std::size_t{1} << (top - level), sizeof(Digest)}, index, 1);
    const std::span<const std::byte> raw = std::as_bytes(std::span(node));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }

  /// Runs `read` on rank 0 and gives its bytes to all; its error becomes everyone's error, so that no rank waits.
  std::vector<std::byte> read_at_root(const std::function<std::vector<std::byte>()>& read) {
    std::vector<std::byte> message(1, std::byte{1});
    if (comm_.rank() == 0) {
      try {
        const std::vector<std::byte> bytes = read();
        message.insert(message.end(), bytes.begin(), bytes.end());
      } catch (const InputError& error) {
        const std::string what = error.what();
        const std::span<const std::byte> raw = std::as_bytes(std::span(what));
        message.assign(1, std::byte{0});
        message.insert(message.end(), raw.begin(), raw.end());
      }
    }
    comm_.broadcast_bytes(message, 0);
    if (message.front() == std::byte{0}) {
      throw InputError(std::string(reinterpret_cast<const char*>(message.data()) + 1, message.size() - 1));
    }
    message.erase(message.begin());
    return message;
  }

  const ReadFile& shard(std::size_t number) {
    if (shards_.size() >= max_open_shards && !shards_.contains(number)) {
      shards_.clear();
    }
    std::unique_ptr<ReadFile>& file = shards_[number];
    if (!file) {
      file = std::make_unique<ReadFile>(shard_path(directory_, number), shard_format);
      if (read_geometry(*file) != geometry_ || file->read_scalar<std::uint64_t>("index") != number) {
        file->fail("index, geometry", "those of shard " + std::to_string(number) + " of codeword.h5", "others");
      }
    }
    return *file;
  }

  fs::path directory_;
  Communicator& comm_;
  CodewordGeometry geometry_;
  Digest root_{}, parameters_{};
  std::unique_ptr<ReadFile> top_;
  std::map<std::size_t, std::unique_ptr<ReadFile>> shards_;
};

}  // namespace

std::future<void> save_codeword_shard(const fs::path& directory, const CodewordGeometry& geometry, std::size_t shard,
                                      std::span<const F> columns, std::span<const TreeLevel> levels,
                                      const Digest* columns_digest) {
  WriteFile file(shard_path(directory, shard), shard_format);
  write_geometry(file, geometry);
  file.write_scalar<std::uint64_t>("index", shard);
  const std::span<const std::uint64_t> words(reinterpret_cast<const std::uint64_t*>(columns.data()), columns.size());
  const Extents extents{geometry.shard_columns(), std::size_t{1} << geometry.log_rows};
  if (columns_digest != nullptr) {
    file.write("columns", words, extents, *columns_digest);
  } else {
    file.write("columns", words, extents);
  }
  for (unsigned level = 0; level < geometry.log_shard_columns(); ++level) {
    write_level(file, level, levels[level]);
  }
  return file.commit_later();
}

void save_codeword_top(const fs::path& directory, const CodewordGeometry& geometry,
                       std::span<const TreeLevel> levels, const Digest& parameters) {
  WriteFile file(directory / "codeword.h5", codeword_format);
  write_geometry(file, geometry);
  file.write("parameters_digest", std::span<const std::uint8_t>(parameters), {parameters.size()});
  for (unsigned level = geometry.log_shard_columns(); level <= geometry.log_columns; ++level) {
    write_level(file, level, levels[level - geometry.log_shard_columns()]);
  }
  file.commit();
}

namespace {

/// The columns of one shard, given by the ranks that have them. Shard `wave + r` goes to rank r. Collective.
std::vector<F> gather_shard(const CodewordGeometry& geometry, std::size_t wave, std::size_t first_column,
                            std::span<const F> columns, Communicator& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t end_column = first_column + (columns.size() >> geometry.log_rows);
  std::vector<std::vector<std::byte>> send(ranks);
  for (std::size_t shard = wave; shard < std::min(wave + ranks, geometry.shards()); ++shard) {
    const std::size_t first = std::max(first_column, shard * geometry.shard_columns());
    const std::size_t end = std::min(end_column, (shard + 1) * geometry.shard_columns());
    if (first < end) {
      const auto bytes = std::as_bytes(
          columns.subspan((first - first_column) << geometry.log_rows, (end - first) << geometry.log_rows));
      send[shard - wave].assign(bytes.begin(), bytes.end());
    }
  }
  std::vector<F> mine;
  for (const std::vector<std::byte>& bytes : comm.all_to_all_bytes(send)) {  // by rank, hence by column
    const std::size_t before = mine.size();
    mine.resize(before + bytes.size() / sizeof(F));
    if (!bytes.empty()) {
      std::memcpy(static_cast<void*>(mine.data() + before), bytes.data(), bytes.size());
    }
  }
  return mine;
}

}  // namespace

void save_codeword(const fs::path& directory, const CodewordGeometry& geometry, std::size_t first_column,
                   std::span<const F> columns, std::span<const TreeLevel> levels, const Digest& parameters,
                   Communicator& comm) {
  const bool alone = comm.size() == 1;
  const std::size_t shard_values = geometry.shard_columns() << geometry.log_rows;
  std::vector<Digest> digests;
  if (alone && shard_values * sizeof(F) % 64 == 0) {  // side by side: a vector has many lanes
    digests.resize(geometry.shards());
    blake2s_many({reinterpret_cast<const std::uint8_t*>(columns.data()), columns.size_bytes()},
                 shard_values * sizeof(F), digests);
  }
  std::deque<std::future<void>> written;
  for (std::size_t wave = 0; wave < geometry.shards(); wave += static_cast<std::size_t>(comm.size())) {
    // each rank gets one shard: bounded memory
    const std::vector<F> gathered =
        alone ? std::vector<F>{} : gather_shard(geometry, wave, first_column, columns, comm);
    const std::size_t shard = wave + static_cast<std::size_t>(comm.rank());
    if (shard >= geometry.shards()) {
      continue;
    }
    std::vector<TreeLevel> part;
    for (unsigned level = 0; level < geometry.log_shard_columns(); ++level) {
      const std::size_t count = geometry.shard_columns() >> level;
      const auto first = levels[level].begin() + static_cast<std::ptrdiff_t>(shard * count);
      part.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
    }
    written.push_back(save_codeword_shard(directory, geometry, shard,
                                          alone ? columns.subspan(shard * shard_values, shard_values) : gathered, part,
                                          digests.empty() ? nullptr : &digests[shard]));
    if (written.size() > most_unwritten) {
      written.front().get();
      written.pop_front();
    }
  }
  for (std::future<void>& shard : written) {
    shard.get();
  }
  comm.barrier();
  if (comm.rank() == 0) {
    save_codeword_top(directory, geometry, levels.subspan(geometry.log_shard_columns()), parameters);
  }
  comm.barrier();
}

std::unique_ptr<StoredCodeword> open_codeword(const fs::path& directory, Communicator& comm) {
  return std::make_unique<CodewordFiles>(directory, comm);
}

}  // namespace tessera
