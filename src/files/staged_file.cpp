#include "files/staged_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/errors.hpp"
#include "files/sync.hpp"
#include "files/temporary.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t reserve_step = std::uint64_t{1} << 18;

fs::path real_target(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(target.string() + ": expected a regular file to write, found something else");
  }
  return through_links(target);
}

}  // namespace

fs::path through_links(const fs::path& path) {
  constexpr int most = 40;  // as the system has it
  std::error_code error;
  fs::path end = path.has_filename() ? path : path.parent_path();
  for (int links = 0; fs::is_symlink(fs::symlink_status(end, error)); ++links) {
    const fs::path next = links < most ? fs::read_symlink(end, error) : fs::path();
    if (next.empty()) {
      throw InputError(path.string() + ": cannot be written: Too many levels of symbolic links");
    }
    end = end.parent_path() / next;
  }
  return end;
}

StagedFile::StagedFile(const fs::path& target) : target_(real_target(target)) {
  remove_stale_beside(target_);
  temporary_ = temporary_beside(target_);
  register_temporary(temporary_);
  descriptor_ = Descriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!descriptor_.is_open()) {
    const int reason = errno;
    unregister_temporary(temporary_);
    const std::string message = target.string() + ": cannot be written: " + std::strerror(reason);
    if (reason == ENOSPC || reason == EDQUOT) {
      throw JobError(message);
    }
    throw InputError(message);
  }
}

StagedFile::~StagedFile() {
  if (descriptor_.is_open()) {
    descriptor_.close();
    std::error_code ignored;
    fs::remove(temporary_, ignored);
    unregister_temporary(temporary_);
  }
}

void StagedFile::reserve(std::uint64_t end) {
  if (end <= reserved_) {
    return;
  }
  rlimit limit{};
  int reason = 0;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur) {
    reason = EFBIG;
  } else if (::fallocate(descriptor(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_),
                         static_cast<off_t>(end + reserve_step - reserved_)) != 0) {
    reason = errno;
  }
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) {
    throw JobError(target_.string() + ": cannot be written: " + std::strerror(reason) + " (" + std::to_string(end) +
                   " bytes needed so far)");
  }
  reserved_ = end + reserve_step;  // other reasons: a file system without reservation
}

void StagedFile::clear() noexcept { (void)::ftruncate(descriptor(), 0); }

void StagedFile::put_in_place(std::uint64_t bytes) {
  // the reserved space beyond the end goes back, unless closing has cut the file already; directories are
  // synchronised as far as the file system allows
  struct stat closed {};
  const bool sized = ::fstat(descriptor(), &closed) == 0;
  const bool durable = sized && ::ftruncate(descriptor(), std::min(closed.st_size, static_cast<off_t>(bytes))) == 0 &&
                       ::fsync(descriptor()) == 0;
  const auto lock = hold_temporaries();
  if (!durable || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw JobError(target_.string() + ": cannot be completed: " + std::strerror(errno));
  }
  unregister_temporary(temporary_);
  descriptor_.close();
  try {
    sync_folder_of(target_);
  } catch (const std::runtime_error&) {
    return;  // the file is in place
  }
}

void write_file(const fs::path& target, std::span<const std::uint8_t> bytes) {
  StagedFile file(target);
  file.reserve(bytes.size());
  if (!write_all(file.descriptor(), bytes)) {
    throw JobError(target.string() + ": cannot be written: " + std::strerror(errno));
  }
  file.put_in_place(bytes.size());
}

}  // namespace tessera
