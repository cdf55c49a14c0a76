#include "archive/hdf5.hpp"
#include "archive/renewal_file.hpp"

namespace tessera {

Digest save_renewal(const std::filesystem::path& path, const Renewal& renewal) {
  WriteFile file(path, renewal_format);
  file.write("key", renewal.key.key.encode());
  file.write("payload", renewal.payload);
  file.write("old_key", std::span<const std::uint8_t>(renewal.old_key), {renewal.old_key.size()});
  file.write("information/key_digest", std::span<const std::uint8_t>(renewal.key.digest), {renewal.key.digest.size()});
  return file.commit();
}

}  // namespace tessera
