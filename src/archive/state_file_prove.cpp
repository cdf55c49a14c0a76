#include "archive/state_file.hpp"

#include <algorithm>

#include "archive/hdf5.hpp"
#include "cluster/agreement.hpp"
#include "words/compact_codeword.hpp"
#include "hash/merkle_tree.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::array tensor_names{"keys", "values"};
constexpr std::uint64_t max_parts = std::uint64_t{1} << 14;  // chunks of the features
constexpr std::uint64_t max_nodes = std::uint64_t{1} << 27;

std::filesystem::path part_path(const std::filesystem::path& directory, std::size_t part) {
  return directory / (std::string(state_rows_prefix) + "-" + std::to_string(part) + ".h5");
}

/// Rows (a feature of a block each) of one chunk of the features.
struct Part {
  Part(const Shape& shape, std::size_t number, std::size_t positions)
      : blocks(shape.dimensions()[0].length),
        rows(shape.chunk_size() / shape.dimensions().back().chunk()),
        stride(shape.dimensions().back().chunk()),
        chunks(shape.chunk_count() / blocks),
        part(number),
        length(positions) {}
  std::size_t blocks, rows, stride, chunks, part, length;

  [[nodiscard]] Extents extents() const { return {blocks, rows, length}; }
  /// Calls `visit` for each row of a tensor of this rank's, with its values and its place in the file.
  template <class Tensor, class Visit>
  void each_row(Tensor& tensor, const Visit& visit) const {
    for (std::size_t block = 0; block < blocks; ++block) {
      const auto values = tensor.chunk(block * chunks + part);
      for (std::size_t row = 0; row < rows; ++row) {
        visit(values.subspan(row * stride, length), (block * rows + row) * length);
      }
    }
  }
};

/// Parts whose chunks this rank holds.
std::vector<std::size_t> held_parts(const ChunkedTensor<std::int16_t>& tensor) {
  std::vector<std::size_t> parts;
  const Shape& shape = tensor.shape();
  for (std::size_t part = 0; part < shape.chunk_count() / shape.dimensions()[0].length; ++part) {
    if (tensor.holds(part)) {
      parts.push_back(part);
    }
  }
  return parts;
}

Digest write_part(const std::filesystem::path& path, const Part& part,
                  const std::vector<ChunkedTensor<std::int16_t>>& tensors) {
  WriteFile file(path, state_rows_format);
  std::vector<std::int16_t> values(part.blocks * part.rows * part.length);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    part.each_row(tensors[i], [&](std::span<const std::int16_t> row, std::size_t place) {
      std::ranges::copy(row, values.begin() + static_cast<std::ptrdiff_t>(place));
    });
    file.write(tensor_names[i], std::span<const std::int16_t>(values), part.extents());
  }
  return file.commit();
}

/// What state.h5 holds.
struct Manifest {
  Digest key{};  // digest of the verifying key
  ConversationState state;
  std::vector<Digest> parts;  // digests of the files of keys and values
  std::vector<Digest> nodes;
};

/// A list of digests.
std::vector<Digest> read_digests(const ReadFile& file, const std::string& name, std::uint64_t most) {
  const Extents extents = file.extents<std::uint8_t>(name);
  if (extents.size() != 2 || extents[0] > most || extents[1] != sizeof(Digest)) {
    file.fail(name, "at most " + std::to_string(most) + " digests", to_string(extents));
  }
  const std::vector<std::uint8_t> bytes = file.read<std::uint8_t>(name, extents);
  std::vector<Digest> digests(extents[0]);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * sizeof(Digest)), sizeof(Digest), digests[i].begin());
  }
  return digests;
}

Manifest read_manifest(const std::filesystem::path& path, const VerifyingKey& key, std::size_t expected_nodes) {
  const ReadFile file(path, state_format);
  Manifest stored;
  std::ranges::copy(file.read<std::uint8_t>("key_digest", {stored.key.size()}), stored.key.begin());
  std::ranges::copy(file.read<std::uint8_t>("root", {stored.state.root.size()}), stored.state.root.begin());
  stored.state.length = file.read_scalar<std::uint64_t>("length");
  stored.state.last_token = file.read_scalar<std::uint32_t>("last_token");
  stored.parts = read_digests(file, "parts", max_parts);
  stored.nodes = read_digests(file, "nodes", max_nodes);
  if (stored.key != key.digest()) {
    file.fail("key_digest", to_hex(key.digest()) + " of this model", to_hex(stored.key) + " of another");
  }
  if (stored.state.length == 0 || stored.state.length >= key.shape.n_positions) {
    file.fail("length", "1 to " + std::to_string(key.shape.n_positions - 1), std::to_string(stored.state.length));
  }
  if (stored.nodes.size() != expected_nodes) {
    file.fail("nodes", std::to_string(expected_nodes), std::to_string(stored.nodes.size()));
  }
  if (merkle_levels(TreeLevel(stored.nodes.begin(), stored.nodes.end())).back().front() != stored.state.root) {
    file.fail("nodes", "those of a tree with the state's root", "others");
  }
  if (stored.state.last_token >= key.shape.n_vocab) {
    file.fail("last_token", "below " + std::to_string(key.shape.n_vocab), std::to_string(stored.state.last_token));
  }
  return stored;
}

}  // namespace

void save_state(const std::filesystem::path& directory, const Digest& key, const Past& past, Communicator& comm) {
  const ConversationState& state = past.state.value();
  const Shape& shape = past.tensors[0].shape();
  std::vector<std::uint8_t> digests;  // of this rank's parts, in order: ranks own contiguous ones
  fail_together(comm, [&] {
    for (const std::size_t part : held_parts(past.tensors[0])) {
      const Digest digest = write_part(part_path(directory, part), Part(shape, part, state.length), past.tensors);
      digests.insert(digests.end(), digest.begin(), digest.end());
    }
  });
  const std::vector<std::uint8_t> all = comm.all_gather(std::span<const std::uint8_t>(digests));
  fail_together(comm, [&] {
    if (comm.rank() != 0) {
      return;
    }
    WriteFile file(directory / state_manifest, state_format);
    file.write("key_digest", std::span<const std::uint8_t>(key), {key.size()});
    file.write("root", std::span<const std::uint8_t>(state.root), {state.root.size()});
    file.write_scalar("length", state.length);
    file.write_scalar("last_token", state.last_token);
    file.write("nodes", std::span(past.nodes.front().data(), past.nodes.size() * sizeof(Digest)),
               {past.nodes.size(), sizeof(Digest)});
    file.write("parts", std::span<const std::uint8_t>(all), {all.size() / sizeof(Digest), sizeof(Digest)});
    file.commit();
  });
}

Past load_state(const std::filesystem::path& directory, const VerifyingKey& key, const StateShapes& shapes,
                Communicator& comm) {
  if (directory.empty()) {
    return {};
  }
  const std::filesystem::path path = directory / state_manifest;
  Manifest stored;
  const PackedOracle oracle = pack_state({shapes.begin(), shapes.end()});
  fail_together(comm, [&] { stored = read_manifest(path, key, compact_nodes(oracle.layout, oracle.parameters)); });
  require_agreement(comm, path.string(), ReadFile(path, state_format).digest());
  Past past{stored.state, {}, std::move(stored.nodes)};
  for (const Shape& shape : shapes) {
    past.tensors.emplace_back(shape, Ownership{1}, comm.rank(), comm.size());
  }
  fail_together(comm, [&] {
    const std::size_t parts = shapes[0].chunk_count() / shapes[0].dimensions()[0].length;
    if (stored.parts.size() != parts) {
      throw InputError(path.string() + ": parts: expected " + std::to_string(parts) + ", found " +
                       std::to_string(stored.parts.size()));
    }
    for (const std::size_t number : held_parts(past.tensors[0])) {
      const ReadFile file(part_path(directory, number), state_rows_format);
      if (file.digest() != stored.parts[number]) {
        file.fail("digest", to_hex(stored.parts[number]) + " of this state", to_hex(file.digest()) + " of another");
      }
      const Part part(shapes[0], number, stored.state.length);
      for (std::size_t i = 0; i < past.tensors.size(); ++i) {
        const std::vector<std::int16_t> values = file.read<std::int16_t>(tensor_names[i], part.extents());
        part.each_row(past.tensors[i], [&](std::span<std::int16_t> row, std::size_t place) {
          std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(place), row.size(), row.begin());
        });
      }
    }
  });
  return past;
}

}  // namespace tessera
