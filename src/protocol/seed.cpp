#include "protocol/seed.hpp"

#include <string_view>

namespace tessera {

Digest joint_seed(const Digest& opening, const Digest& client) {
  constexpr std::string_view domain = "tessera seed";
  Blake2s hash;
  hash.update({reinterpret_cast<const std::uint8_t*>(domain.data()), domain.size()});
  hash.update(opening);
  hash.update(client);
  return hash.digest();
}

}  // namespace tessera
