#include "files/sync.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.hpp"
#include "files/descriptor.hpp"

namespace tessera {

void sync_folder_of(const std::filesystem::path& file) {
  const Descriptor folder(file.has_parent_path() ? file.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  if (::fsync(folder.number()) != 0) {
    throw JobError(file.string() + ": cannot be synced: " + std::strerror(errno));
  }
}

}  // namespace tessera
