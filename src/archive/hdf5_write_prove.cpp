#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <future>
#include "archive/hdf5.hpp"
#include "plan/key.hpp"
#include <utility>

#include "archive/hdf5_handle.hpp"
#include "hash/merkle_tree.hpp"

namespace tessera {
namespace {

using hdf5::Handle;

static_assert(std::endian::native == std::endian::little, "datasets are written as they lie in memory");

/// Room for the library's own structures: closing a file must not run out of space.
constexpr std::uint64_t slack = std::uint64_t{1} << 18;
/// Bytes of a dataset that are worth a thread to hash them.
constexpr std::size_t least_beside = std::size_t{1} << 20;

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

WriteFile::WriteFile(const std::filesystem::path& target, std::string_view format) : staged_(target), format_(format) {
  hdf5::silence();
  try {
    reserve(0);
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_phase_change(creation.get(), 0, 0);  // the only kind of group that readers accept
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_obj_track_times(creation.get(), false);
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_file_locking(access.get(), false, true);
    H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
    file_ = H5Fcreate(staged_.path().c_str(), H5F_ACC_TRUNC, creation.get(), access.get());
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
    staged_.clear();  // so that the library can write its structures while closing
    H5Fclose(std::exchange(file_, -1));
  }
}

void WriteFile::fail(const std::string& what) {
  throw JobError(staged_.target().string() + ": " + what + ": " + hdf5::last_error());
}

/// Reserves disk space before the library sees the data: it does not survive a full disk in good order itself.
void WriteFile::reserve(std::uint64_t bytes) {
  haddr_t used = 0;
  if (file_ >= 0) {
    H5Fget_eoa(file_, &used);
  }
  staged_.reserve(used + bytes + slack);
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
  if (!is_valid_name(info.name) || datasets_.contains(info.name) || growing_) {
    throw std::logic_error("WriteFile: bad name, name used twice or rows missing: " + info.name);
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
                            std::span<const std::byte> bytes) {
  DatasetInfo info{name, type, extents};
  if (info.bytes() != bytes.size()) {
    throw std::logic_error("WriteFile: extents that do not fit the values: " + name);
  }
  // large ones are hashed while they are written
  std::future<Digest> digest = std::async(bytes.size() < least_beside ? std::launch::deferred : std::launch::async,
                                          [&] { return dataset_digest(bytes, blake2s_many); });
  const Handle dataset(create_dataset(info, false), H5Dclose);
  const Handle element(hdf5::make_type(type), H5Tclose);
  const bool written =
      bytes.empty() || H5Dwrite(dataset.get(), element.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
  info.digest = digest.get();
  if (!written || !write_digest(dataset.get(), info.digest)) {
    fail(name + " cannot be written");
  }
  datasets_.emplace(name, std::move(info));
}

void WriteFile::begin_rows(const std::string& name, const ElementType& type, const Extents& extents) {
  DatasetInfo info{name, type, extents};
  if (info.count() == 0 || extents.empty()) {
    throw std::logic_error("WriteFile: rows of nothing: " + name);
  }
  const hid_t dataset = create_dataset(info, true);
  info.offset = H5Dget_offset(dataset);
  growing_ = {std::move(info), dataset, 0};
}

void WriteFile::append_bytes(const ElementType& type, std::span<const std::byte> bytes) {
  auto& [info, dataset, rows_before] = growing_.value();
  const std::uint64_t row_bytes = info.bytes() / info.extents.front();
  const std::uint64_t rows = bytes.size() / row_bytes;
  if (type != info.type || rows * row_bytes != bytes.size() || rows > info.extents.front() - rows_before) {
    throw std::logic_error("WriteFile: not whole rows, or too many: " + info.name);
  }
  std::vector<hsize_t> start(info.extents.size(), 0);
  std::vector<hsize_t> count(info.extents.begin(), info.extents.end());
  start.front() = rows_before;
  count.front() = rows;
  const Handle element(hdf5::make_type(type), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const Handle memory(hdf5::make_space({count.begin(), count.end()}), H5Sclose);
  if (!space || H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dwrite(dataset, element.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()) < 0) {
    fail(info.name + " cannot be written");
  }
  // the disk begins now, not when all is there; where this is unknown, it begins later
  (void)::sync_file_range(staged_.descriptor(), static_cast<off64_t>(info.offset + rows_before * row_bytes),
                          static_cast<off64_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
  rows_before += rows;
}

void WriteFile::end_rows(const Digest& digest) {
  auto [info, handle, rows] = std::exchange(growing_, std::nullopt).value();
  const Handle dataset(handle, H5Dclose);
  if (rows != info.extents.front()) {
    throw std::logic_error("WriteFile: rows are missing: " + info.name);
  }
  info.digest = digest;
  if (!write_digest(dataset.get(), digest)) {
    fail(info.name + " cannot be written");
  }
  datasets_[info.name] = info;
}

void WriteFile::write_text(const std::string& name, std::string_view text) {
  std::string padded(text);
  padded.resize(std::max<std::size_t>(text.size(), 1));
  write_bytes(name, ElementType::text(text.size()), {}, std::as_bytes(std::span(padded)));
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
  write_bytes(name, ElementType::text(width), {texts.size()}, std::as_bytes(std::span(padded)));
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

Digest WriteFile::close() {
  if (growing_) {
    throw std::logic_error("WriteFile: a dataset is not finished: " + growing_->info.name);
  }
  const Digest digest = file_digest(format_, format_version, datasets_);
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
  staged_.put_in_place(used_);
  return digest;
}

std::future<void> WriteFile::commit_later() {
  close();
  return std::async(std::launch::async, [this] { staged_.put_in_place(used_); });
}

}  // namespace tessera
