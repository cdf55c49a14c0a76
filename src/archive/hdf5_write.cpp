#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include "archive/hdf5.hpp"
#include "archive/temporary.hpp"
#include "plan/key.hpp"
#include <utility>

#include "archive/hdf5_handle.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

static_assert(std::endian::native == std::endian::little, "datasets are written as they lie in memory");

/// Room for the library's own structures: closing a file must not run out of space.
constexpr std::uint64_t slack = std::uint64_t{1} << 18;

fs::path real_target(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(target.string() + ": expected a regular file to write, found something else");
  }
  // writing through a symbolic link replaces what it points to, not the link
  return fs::exists(status) ? fs::canonical(target) : target;
}

bool is_valid_name(const std::string& name) {
  const bool characters = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '/';
  });
  return characters && !name.empty() && name.size() < 200 && name.front() != '/' && name.back() != '/' &&
         name.find("//") == std::string::npos;
}

bool write_attribute(hid_t object, const char* name, const ElementType& type, const Extents& extents,
                     const void* data) {
  const Handle element(hdf5::make_type(type), H5Tclose);
  const Handle space(hdf5::make_space(extents), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, element.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.get(), element.get(), data) >= 0;
}

bool write_digest(hid_t object, const Digest& digest) {
  return write_attribute(object, "digest", ElementType::of<std::uint8_t>(), {digest.size()}, digest.data());
}

}  // namespace

WriteFile::WriteFile(const fs::path& target, std::string_view format) : target_(real_target(target)), format_(format) {
  hdf5::silence();
  remove_stale_beside(target_);
  temporary_ = temporary_beside(target_);
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int reason = errno;
    const std::string message = target.string() + ": cannot be written: " + std::strerror(reason);
    if (reason == ENOSPC || reason == EDQUOT) {
      throw JobError(message);
    }
    throw InputError(message);
  }
  try {
    reserve(0);
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_phase_change(creation.get(), 0, 0);  // the only kind of group that readers accept
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_obj_track_times(creation.get(), false);
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_file_locking(access.get(), false, true);
    H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
    file_ = H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, creation.get(), access.get());
    const std::uint32_t version = format_version;
    if (file_ < 0 || !write_attribute(file_, "format", ElementType::text(format_.size()), {}, format_.data()) ||
        !write_attribute(file_, "format_version", ElementType::of<std::uint32_t>(), {}, &version)) {
      fail("cannot be created");
    }
  } catch (...) {
    discard();
    throw;
  }
}

WriteFile::~WriteFile() { discard(); }

void WriteFile::discard() noexcept {
  if (file_ >= 0) {
    // frees the space first, so that the library can write its structures while closing
    (void)::truncate(temporary_.c_str(), 0);
    H5Fclose(file_);
    file_ = -1;
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  }
}

void WriteFile::fail(const std::string& what) {
  throw JobError(target_.string() + ": " + what + ": " + hdf5::last_error());
}

/// Reserves disk space before the library sees the data: it does not survive a full disk in good order itself.
void WriteFile::reserve(std::uint64_t bytes) {
  haddr_t used = 0;
  if (file_ >= 0) {
    H5Fget_eoa(file_, &used);
  }
  const std::uint64_t end = used + bytes + slack;
  if (end <= reserved_) {
    return;
  }
  rlimit limit{};
  int reason = 0;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur) {
    reason = EFBIG;
  } else if (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_),
                         static_cast<off_t>(end + slack - reserved_)) != 0) {
    reason = errno;
  }
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) {
    throw JobError(target_.string() + ": cannot be written: " + std::strerror(reason) + " (" + std::to_string(end) +
                   " bytes needed so far)");
  }
  reserved_ = end + slack;  // other reasons: a file system without reservation
}

/// The groups above a dataset, without times (those that the library creates by itself have them).
void WriteFile::create_groups(const std::string& name) {
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
    const std::string group = name.substr(0, end);
    if (!groups_.insert(group).second) {
      continue;
    }
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_phase_change(creation.get(), 0, 0);
    H5Pset_obj_track_times(creation.get(), false);
    if (!Handle(H5Gcreate2(file_, group.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose)) {
      fail(group + " cannot be created");
    }
  }
}

std::int64_t WriteFile::create_dataset(const DatasetInfo& info, bool early) {
  if (!is_valid_name(info.name) || datasets_.contains(info.name) || growing_.contains(info.name)) {
    throw std::logic_error("WriteFile: bad name or name used twice: " + info.name);
  }
  reserve(info.bytes());
  const Handle element(hdf5::make_type(info.type), H5Tclose);
  const Handle space(hdf5::make_space(info.extents), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  H5Pset_layout(creation.get(), H5D_CONTIGUOUS);
  if (early) {
    H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  }
  create_groups(info.name);
  const hid_t dataset =
      H5Dcreate2(file_, info.name.c_str(), element.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT);
  if (dataset < 0) {
    fail(info.name + " cannot be written");
  }
  return dataset;
}

void WriteFile::write_bytes(const std::string& name, const ElementType& type, const Extents& extents,
                            std::span<const std::byte> bytes, const Digest* digest) {
  DatasetInfo info{name, type, extents, {}, 0};
  if (info.bytes() != bytes.size()) {
    throw std::logic_error("WriteFile: extents that do not fit the values: " + name);
  }
  info.digest =
      digest != nullptr ? *digest : blake2s({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  const Handle dataset(create_dataset(info, false), H5Dclose);
  const Handle element(hdf5::make_type(type), H5Tclose);
  if (!write_digest(dataset.get(), info.digest) ||
      (!bytes.empty() && H5Dwrite(dataset.get(), element.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)) {
    fail(name + " cannot be written");
  }
  datasets_.emplace(name, std::move(info));
}

void WriteFile::begin_rows(const std::string& name, const ElementType& type, const Extents& extents) {
  DatasetInfo info{name, type, extents, {}, 0};
  if (info.count() == 0 || extents.empty()) {
    throw std::logic_error("WriteFile: rows of nothing: " + name);
  }
  const hid_t dataset = create_dataset(info, true);
  info.offset = H5Dget_offset(dataset);
  growing_.emplace(name, GrowingDataset{std::move(info), dataset, 0});
}

void WriteFile::append_bytes(const std::string& name, const ElementType& type, std::span<const std::byte> bytes) {
  GrowingDataset& dataset = growing_.at(name);
  const DatasetInfo& info = dataset.info;
  const std::uint64_t row_bytes = info.bytes() / info.extents.front();
  const std::uint64_t rows = bytes.size() / row_bytes;
  if (type != info.type || rows * row_bytes != bytes.size() || rows > info.extents.front() - dataset.rows) {
    throw std::logic_error("WriteFile: not whole rows, or too many: " + name);
  }
  std::vector<hsize_t> start(info.extents.size(), 0);
  std::vector<hsize_t> count(info.extents.begin(), info.extents.end());
  start.front() = dataset.rows;
  count.front() = rows;
  const Handle element(hdf5::make_type(type), H5Tclose);
  const Handle space(H5Dget_space(dataset.handle), H5Sclose);
  const Handle memory(hdf5::make_space({count.begin(), count.end()}), H5Sclose);
  if (!space || H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dwrite(dataset.handle, element.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()) < 0) {
    fail(name + " cannot be written");
  }
  // the disk begins now, not when all is there; where this is unknown, it begins later
  (void)::sync_file_range(descriptor_, static_cast<off64_t>(info.offset + dataset.rows * row_bytes),
                          static_cast<off64_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
  dataset.rows += rows;
}

void WriteFile::end_rows(const std::string& name, const Digest& digest) {
  GrowingDataset dataset = growing_.extract(name).mapped();
  const Handle handle(dataset.handle, H5Dclose);
  if (dataset.rows != dataset.info.extents.front()) {
    throw std::logic_error("WriteFile: rows are missing: " + name);
  }
  dataset.info.digest = digest;
  if (!write_digest(handle.get(), digest)) {
    fail(name + " cannot be written");
  }
  datasets_.emplace(name, std::move(dataset.info));
}

void WriteFile::write_text(const std::string& name, std::string_view text) {
  std::string padded(text);
  padded.resize(std::max<std::size_t>(text.size(), 1));
  write_bytes(name, ElementType::text(text.size()), {}, std::as_bytes(std::span(padded)), nullptr);
}

void WriteFile::write_texts(const std::string& name, std::span<const std::string> texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) {
    width = std::max(width, text.size());
  }
  std::string padded;
  for (const std::string& text : texts) {
    padded += text;
    padded.resize(padded.size() + width - text.size());
  }
  write_bytes(name, ElementType::text(width), {texts.size()}, std::as_bytes(std::span(padded)), nullptr);
}

void WriteFile::write_strings(const std::string& name, std::span<const std::string> strings) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint32_t> lengths;
  for (const std::string& text : strings) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    lengths.push_back(static_cast<std::uint32_t>(text.size()));
  }
  write(name + "/bytes", bytes);
  write(name + "/lengths", lengths);
}

namespace {

/// A complete file under its temporary name, which goes with it unless it is put in place.
class CompleteFile {
 public:
  CompleteFile(fs::path temporary, fs::path target, int descriptor, haddr_t used)
      : temporary_(std::move(temporary)), target_(std::move(target)), descriptor_(descriptor), used_(used) {}
  CompleteFile(CompleteFile&& other) noexcept
      : temporary_(std::move(other.temporary_)),
        target_(std::move(other.target_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        used_(other.used_) {}
  CompleteFile(const CompleteFile&) = delete;
  CompleteFile& operator=(const CompleteFile&) = delete;
  CompleteFile& operator=(CompleteFile&&) = delete;
  ~CompleteFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      std::error_code ignored;
      fs::remove(temporary_, ignored);
    }
  }

  /// fsync, rename over the target, fsync of the directory.
  void put_in_place() {
    // the reserved space beyond the end goes back, unless closing has cut the file already; directories are
    // synchronised as far as the file system allows
    struct stat closed {};
    const bool sized = ::fstat(descriptor_, &closed) == 0;
    const bool durable = sized && ::ftruncate(descriptor_, std::min(closed.st_size, static_cast<off_t>(used_))) == 0 &&
                         ::fsync(descriptor_) == 0;
    if (!durable || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
      throw JobError(target_.string() + ": cannot be completed: " + std::strerror(errno));
    }
    ::close(std::exchange(descriptor_, -1));
    const fs::path directory = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    const int folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
      (void)::fsync(folder);
      ::close(folder);
    }
  }

 private:
  fs::path temporary_, target_;
  int descriptor_;
  haddr_t used_;
};

}  // namespace

Digest WriteFile::close() {
  if (!growing_.empty()) {
    throw std::logic_error("WriteFile: a dataset is not finished: " + growing_.begin()->first);
  }
  const Digest digest = hdf5::file_digest(format_, format_version, datasets_);
  haddr_t used = 0;
  if (!write_digest(file_, digest) || H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || H5Fget_eoa(file_, &used) < 0) {
    fail("cannot be completed");
  }
  used_ = used;
  if (H5Fclose(std::exchange(file_, -1)) < 0) {
    fail("cannot be closed");
  }
  return digest;
}

Digest WriteFile::commit() {
  const Digest digest = close();
  CompleteFile(temporary_, target_, std::exchange(descriptor_, -1), used_).put_in_place();
  return digest;
}

std::future<void> WriteFile::commit_later() {
  close();
  return std::async(std::launch::async, [complete = CompleteFile(temporary_, target_, std::exchange(descriptor_, -1),
                                                                 used_)]() mutable { complete.put_in_place(); });
}

}  // namespace tessera
