#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include "archive/codeword_file.hpp"
#include "archive/hdf5.hpp"
#include "hash/merkle_tree.hpp"
#include "plan/limits.hpp"

#include "archive/codeword_names.hpp"

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
      const Extents extents{geometry_.groups(), geometry_.shard_columns(), CodewordGeometry::group_rows};
      std::vector<std::byte> all;
      for (const std::size_t position : positions) {
        const ReadFile& file = shard(position >> geometry_.log_shard_columns());
        const std::size_t place = position & (geometry_.shard_columns() - 1);
        for (std::size_t group = 0; group < geometry_.groups(); ++group) {
          const std::vector<std::uint64_t> part =
              file.read_lines<std::uint64_t>("rows", extents, group * geometry_.shard_columns() + place, 1);
          if (!std::ranges::all_of(part, [](std::uint64_t value) { return value < F::modulus; })) {
            file.fail("rows", "values below p", "a larger one in column " + std::to_string(position));
          }
          const std::span<const std::byte> raw = std::as_bytes(std::span(part));
          all.insert(all.end(), raw.begin(), raw.end());
        }
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
        file.read_lines<std::uint8_t>(level_name(level), {std::size_t{1} << (top - level), sizeof(Digest)}, index, 1);
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

std::unique_ptr<StoredCodeword> open_codeword(const fs::path& directory, Communicator& comm) {
  return std::make_unique<CodewordFiles>(directory, comm);
}

}  // namespace tessera
