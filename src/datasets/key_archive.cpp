#include "datasets/key_archive.hpp"

namespace tessera {
namespace {

constexpr auto key_bytes_name = "key";

}  // namespace

std::vector<std::uint8_t> read_key_bytes(const DatasetFile& file) {
  return file.read_list<std::uint8_t>(key_bytes_name, max_key_bytes);
}

std::span<const std::uint8_t> key_bytes_in(const ImageFile& file) {
  return file.list_in_place(key_bytes_name, max_key_bytes);
}

}  // namespace tessera
