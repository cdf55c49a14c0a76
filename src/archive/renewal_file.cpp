#include "archive/renewal_file.hpp"

#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/plain_bytes.hpp"
#include "datasets/image_file.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;

ImageReader renewal_reader(const std::filesystem::path& name) {
  return [name](std::span<const std::uint8_t> image) {
    const StoredRenewal stored = read_renewal(ImageFile(name.string(), image, renewal_format, max_renewal_file_bytes));
    Bytes bytes;
    append_bytes(bytes, stored.old_key.data(), stored.old_key.size());
    append_list(bytes, stored.key);
    append_list(bytes, stored.payload);
    return bytes;
  };
}

Renewal decode_renewal(const Bytes& bytes) {
  Taker taker(bytes);
  Renewal renewal;
  taker.take(renewal.old_key.data(), renewal.old_key.size());
  renewal.key = IdentifiedKey::decode(taker.list<Bytes>());
  renewal.payload = taker.list<Bytes>();
  taker.finish();
  return renewal;
}

}  // namespace

Renewal load_renewal_isolated(const std::filesystem::path& path) {
  return naming(path, [&] { return decode_renewal(read_isolated(path, renewal_reader(path))); });
}

Renewal load_renewal_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image) {
  return naming(name, [&] { return decode_renewal(read_isolated(name, image, renewal_reader(name))); });
}

}  // namespace tessera
