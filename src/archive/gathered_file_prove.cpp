#include "archive/gathered_file.hpp"

#include <numeric>

#include "hash/merkle_tree.hpp"

namespace tessera {
namespace {

std::uint64_t total(std::span<const std::uint64_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

}  // namespace

GatheredWriter::GatheredWriter(const std::filesystem::path& path, std::span<const std::string> names,
                               std::span<const std::uint64_t> bytes)
    : file_(path, gathered_format), hash_(total(bytes), blake2s_many) {
  file_.write_strings("names", names);
  file_.write("files/lengths", std::vector<std::uint32_t>(bytes.begin(), bytes.end()));
  file_.begin_rows<std::uint8_t>("files/bytes", {total(bytes)});
}

void GatheredWriter::append(std::span<const std::uint8_t> file) {
  hash_.update(file);
  file_.append_rows(file);
}

Digest GatheredWriter::commit() {
  file_.end_rows(hash_.digest());
  return file_.commit();
}

}  // namespace tessera
