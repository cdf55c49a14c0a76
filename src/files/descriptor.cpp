#include "files/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.hpp"

namespace tessera {

Descriptor::Descriptor(const std::filesystem::path& path, int flags)
    : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
  if (number_ < 0) {
    throw InputError(path.string() + ": " + std::strerror(errno));
  }
}

void Descriptor::close() noexcept {
  if (is_open()) {
    ::close(release());
  }
}

std::string read_all(int from, std::uint64_t offset, std::span<std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t read = ::pread(from, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (read < 0 && errno == EINTR) {
      continue;
    }
    if (read <= 0) {
      return read < 0 ? std::strerror(errno) : "the end of the file";
    }
    done += static_cast<std::size_t>(read);
  }
  return {};
}

bool write_all(int to, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count <= 0 && errno != EINTR) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count < 0 ? 0 : count));
  }
  return true;
}

bool write_all(int to, std::string_view bytes) {
  return write_all(to, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace tessera
