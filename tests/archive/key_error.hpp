#pragma once

#include <span>
#include <string>

#include "base/errors.hpp"
#include "plan/key.hpp"

namespace tessera::test {

/// The error of decoding these bytes.
inline std::string key_error_of(std::span<const std::uint8_t> bytes) {
  try {
    VerifyingKey::decode(bytes);
    return "accepted";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace tessera::test
