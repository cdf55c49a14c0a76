#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace tessera::cli {

/// False, with errno, if not all bytes can be written.
inline bool write_all(int to, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count <= 0 && errno != EINTR) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count < 0 ? 0 : count));
  }
  return true;
}

}  // namespace tessera::cli
