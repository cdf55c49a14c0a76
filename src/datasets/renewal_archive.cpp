#include "datasets/renewal_archive.hpp"

#include <algorithm>

namespace tessera {

StoredRenewal read_renewal(const DatasetFile& file) {
  StoredRenewal renewal{{}, read_key_bytes(file), file.read_list<std::uint8_t>("payload", max_payload_bytes)};
  const auto old_key = file.read_list<std::uint8_t>("old_key", sizeof(Digest));
  if (old_key.size() != sizeof(Digest)) {
    file.fail("old_key", std::to_string(sizeof(Digest)) + " bytes", std::to_string(old_key.size()));
  }
  std::ranges::copy(old_key, renewal.old_key.begin());
  return renewal;
}

}  // namespace tessera
