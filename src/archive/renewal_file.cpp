#include "archive/renewal_file.hpp"

#include <algorithm>

#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/plain_bytes.hpp"
#include "datasets/image_file.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// In the child.
Bytes reread(const std::filesystem::path& path, std::span<const std::uint8_t> image) {
  const ImageFile file(path.string(), image, renewal_format, max_key_file_bytes + max_proof_file_bytes);
  Bytes bytes;
  append_list(bytes, read_key_bytes(file));
  append_list(bytes, file.read_list<std::uint8_t>("payload", max_payload_bytes));
  const auto old_key = file.read_list<std::uint8_t>("old_key", sizeof(Digest));
  if (old_key.size() != sizeof(Digest)) {
    file.fail("old_key", std::to_string(sizeof(Digest)) + " bytes", std::to_string(old_key.size()));
  }
  append_list(bytes, old_key);
  return bytes;
}

}  // namespace

Renewal load_renewal_isolated(const std::filesystem::path& path) {
  return naming(path, [&] {
    const Bytes bytes = read_isolated(path, [&](std::span<const std::uint8_t> image) { return reread(path, image); });
    Taker taker(bytes);
    Renewal renewal{{}, IdentifiedKey::decode(taker.list<Bytes>()), taker.list<Bytes>()};
    const auto old_key = taker.list<Bytes>();
    taker.finish();
    if (old_key.size() != renewal.old_key.size()) {
      throw InputError("old_key: expected a digest, found " + std::to_string(old_key.size()) + " bytes");
    }
    std::ranges::copy(old_key, renewal.old_key.begin());
    return renewal;
  });
}

}  // namespace tessera
