#include "archive/parts_file.hpp"

#include <fcntl.h>

namespace tessera {

PartsFile::PartsFile(const std::filesystem::path& path, std::string_view format)
    : PartsFile(path, format, MappedFile(path)) {}

PartsFile::PartsFile(const std::filesystem::path& path, std::string_view format, const MappedFile& mapped)
    : DirectFile(path.string(), mapped.bytes(), format, any_size), file_(path, O_RDONLY) {}

void PartsFile::read_at(const DatasetInfo& info, std::uint64_t offset, std::span<std::byte> bytes) const {
  if (const std::string error = read_all(file_.number(), offset, bytes); !error.empty()) {
    fail(info.name, "readable data", error);
  }
}

void PartsFile::expect_at(std::uint64_t offset, std::uint64_t bytes) const {
  // advice: what is refused costs time alone
  (void)posix_fadvise(file_.number(), static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

}  // namespace tessera
