#include "datasets/key_archive.hpp"

namespace tessera {

VerifyingKey read_key(const DatasetFile& file) {
  return VerifyingKey::decode(file.read_list<std::uint8_t>("key", max_key_bytes));
}

}  // namespace tessera
