#include "subprotocols/norm.hpp"

namespace tessera {

std::vector<bool> all_but_features(const Shape& activation) {
  std::vector<bool> kept(activation.dimensions().size(), true);
  kept[kept.size() - 2] = false;
  return kept;
}

}  // namespace tessera
