#include "archive/renewal_file.hpp"

#include "archive/hdf5.hpp"
#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/plain_bytes.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// In the child.
Bytes reread(const std::filesystem::path& path) {
  const ReadFile file(path, renewal_format, max_key_file_bytes + max_proof_file_bytes);
  Bytes bytes;
  append_list(bytes, read_key(file).encode());
  append_list(bytes, file.read_list<std::uint8_t>("payload", max_payload_bytes));
  const auto old_key = file.read_list<std::uint8_t>("old_key", sizeof(Digest));
  if (old_key.size() != sizeof(Digest)) {
    file.fail("old_key", std::to_string(sizeof(Digest)) + " bytes", std::to_string(old_key.size()));
  }
  append_list(bytes, old_key);
  return bytes;
}

}  // namespace

Digest save_renewal(const std::filesystem::path& path, const Renewal& renewal) {
  WriteFile file(path, renewal_format);
  file.write("key", renewal.key.encode());
  file.write("payload", renewal.payload);
  file.write("old_key", std::span<const std::uint8_t>(renewal.old_key), {renewal.old_key.size()});
  const Digest digest = renewal.key.digest();
  file.write("information/key_digest", std::span<const std::uint8_t>(digest), {digest.size()});
  return file.commit();
}

Renewal load_renewal_isolated(const std::filesystem::path& path) {
  return naming(path, [&] {
    const Bytes bytes = read_isolated(path, [&] { return reread(path); });
    Taker taker(bytes);
    Renewal renewal{{}, VerifyingKey::decode(taker.list<Bytes>()), taker.list<Bytes>()};
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
