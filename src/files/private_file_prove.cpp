#include "files/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/errors.hpp"
#include "files/descriptor.hpp"
#include "files/sync.hpp"
#include "files/temporary.hpp"

namespace tessera {

namespace fs = std::filesystem;

void write_private(const fs::path& path, std::string_view content) {
  const fs::path temporary = temporary_beside(path);
  register_temporary(temporary);
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!write_all(file.number(), content) || ::fsync(file.number()) != 0) {
      const std::string why = std::strerror(errno);
      ::unlink(temporary.c_str());
      throw JobError(path.string() + ": cannot be written: " + why);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    throw JobError(path.string() + ": cannot be written: " + std::strerror(errno));
  }
  unregister_temporary(temporary);
  sync_folder_of(path);
}

void wipe_file(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return;
  }
  const auto require = [&](bool good) {
    if (!good) {
      throw JobError(path.string() + ": cannot be wiped: " + std::strerror(errno));
    }
  };
  const Descriptor file(path, O_WRONLY);
  struct stat status {};
  require(::fstat(file.number(), &status) == 0);
  const std::vector<std::uint8_t> zeros(std::size_t{1} << 20);
  for (off_t done = 0; done < status.st_size;) {
    const auto piece = std::min(static_cast<std::size_t>(status.st_size - done), zeros.size());
    require(write_all(file.number(), std::span(zeros).first(piece)));
    done += static_cast<off_t>(piece);
  }
  require(::fsync(file.number()) == 0);
  require(::unlink(path.c_str()) == 0);
}

}  // namespace tessera
