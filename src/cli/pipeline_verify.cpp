#include <stdexcept>

#include "pipeline.hpp"

namespace tessera::cli {

void verify_proof(const VerifyingKey& /*key*/, const Statement& /*statement*/,
                  std::span<const std::uint8_t> /*payload*/) {
  throw std::logic_error("verify_proof: not wired");
}

}  // namespace tessera::cli
