#include "datasets/key_archive.hpp"

namespace tessera {

std::vector<std::uint8_t> read_key_bytes(const DatasetFile& file) {
  return file.read_list<std::uint8_t>("key", max_key_bytes);
}

}  // namespace tessera
