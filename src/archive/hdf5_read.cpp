#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include "archive/file_image.hpp"
#include "archive/hdf5.hpp"
#include "plan/key.hpp"

#include "archive/hdf5_handle.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

constexpr unsigned max_depth = 6;
constexpr std::size_t max_objects = 4096;
constexpr int max_rank = 4;
constexpr std::size_t max_name = 200;

std::string link_kind(H5L_type_t type) {
  return type == H5L_TYPE_SOFT       ? "a soft link"
         : type == H5L_TYPE_EXTERNAL ? "an external link"
                                     : "another kind of link";
}

/// Our name of an element type; empty if it is none of ours.
ElementType known_type(hid_t type) {
  if (H5Tget_class(type) == H5T_STRING) {
    const bool ours =
        H5Tis_variable_str(type) == 0 && H5Tget_cset(type) == H5T_CSET_UTF8 && H5Tget_strpad(type) == H5T_STR_NULLPAD;
    return ours ? ElementType::text(H5Tget_size(type)) : ElementType{};
  }
  for (const ElementType& candidate :
       {ElementType::of<std::uint8_t>(), ElementType::of<std::int16_t>(), ElementType::of<std::uint16_t>(),
        ElementType::of<std::int32_t>(), ElementType::of<std::uint32_t>(), ElementType::of<std::int64_t>(),
        ElementType::of<std::uint64_t>(), ElementType::of<float>(), ElementType::of<double>()}) {
    const Handle wanted(hdf5::make_type(candidate), H5Tclose);
    if (H5Tequal(type, wanted.get()) > 0) {
      return candidate;
    }
  }
  return {};
}

/// Reads an attribute of exactly this type and these extents; false if there is none such.
bool read_attribute(hid_t object, const char* name, const ElementType& type, const Extents& extents, void* data) {
  if (H5Aexists(object, name) <= 0) {
    return false;
  }
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) {
    return false;
  }
  const Handle found(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Handle wanted(hdf5::make_type(type), H5Tclose);
  const Handle wanted_space(hdf5::make_space(extents), H5Sclose);
  return found && space && known_type(found.get()) == type && H5Sextent_equal(space.get(), wanted_space.get()) > 0 &&
         H5Aread(attribute.get(), wanted.get(), data) >= 0;
}

/// The root's `format`, at most 64 bytes; empty if there is none.
std::string read_format(hid_t file) {
  for (std::size_t width = 1; width <= 64; ++width) {
    std::string text(width, '\0');
    if (read_attribute(file, "format", ElementType::text(width), {}, text.data())) {
      return text;
    }
  }
  return {};
}

}  // namespace

ReadFile::ReadFile(const fs::path& path, std::string_view format, std::uint64_t max_bytes) : path_(path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.get(), false, true);  // read-only files on network file systems
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  const std::optional<std::uint64_t> image = hdf5::use_image(access.get(), path);
  file_bytes_ = image ? *image : regular_file_size(path);
  if (file_bytes_ > max_bytes) {
    fail("size", "at most " + std::to_string(max_bytes) + " bytes", std::to_string(file_bytes_));
  }
  hdf5::silence();
  // the library makes sure that no file has an image's name: there is none below a regular file
  file_ = H5Fopen((image ? path / "image" : path).c_str(), H5F_ACC_RDONLY, access.get());
  if (file_ < 0) {
    throw InputError(path.string() + ": expected an HDF5 file of ours, found a damaged or other file (" +
                     hdf5::last_error() + ")");
  }
  try {
    open(format);
  } catch (...) {
    H5Fclose(file_);
    throw;
  }
}

ReadFile::~ReadFile() { H5Fclose(file_); }

void ReadFile::open(std::string_view format) {
  format_ = read_format(file_);
  const std::string found_format = format_.empty() ? "none" : format_;
  if (!format.empty() && format_ != format) {
    fail("format", std::string(format), found_format);
  }
  if (!format_.starts_with("tessera ")) {
    fail("format", "a file written by tessera", found_format);
  }
  std::uint32_t version = 0;
  if (!read_attribute(file_, "format_version", ElementType::of<std::uint32_t>(), {}, &version)) {
    fail("format_version", std::to_string(format_version), "none");
  }
  if (version != format_version) {
    fail("format_version", std::to_string(format_version), std::to_string(version));
  }
  if (!read_attribute(file_, "digest", ElementType::of<std::uint8_t>(), {digest_.size()}, digest_.data())) {
    fail("digest", "32 bytes", "none");
  }
  walk(file_, "", 0);
  const Digest computed = hdf5::file_digest(format_, version, datasets_);
  if (computed != digest_) {
    fail("digest", to_hex(digest_), to_hex(computed) + " (the file is damaged)");
  }
}

void ReadFile::walk(std::int64_t group, const std::string& prefix, unsigned depth) {
  if (depth > max_depth) {
    fail(prefix, "at most " + std::to_string(max_depth) + " nested groups", "more");
  }
  const hdf5::LinkList list = hdf5::list_links(group, max_objects);
  if (!list.found.empty()) {
    fail("/" + prefix, list.expected, list.found);
  }
  for (const hdf5::Link& link : list.links) {
    const std::string path = prefix + link.name;
    if (link.type != H5L_TYPE_HARD) {
      fail(path, "a hard link", link_kind(link.type));
    }
    if (path.size() > max_name || datasets_.size() >= max_objects) {
      fail("/" + prefix, "names and objects within bounds", "more");
    }
    H5O_info_t info{};
    if (H5Oget_info_by_name2(group, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
      fail(path, "a readable object", "damaged bytes");
    }
    // the count of links is the file's word: an address seen before is a second link
    if (info.rc != 1 || !addresses_.insert(info.addr).second) {
      fail(path, "an object linked once", std::to_string(info.rc) + " links");
    }
    if (info.type == H5O_TYPE_DATASET) {
      add_dataset(group, link.name, path);
    } else if (info.type == H5O_TYPE_GROUP) {
      const Handle child(H5Gopen2(group, link.name.c_str(), H5P_DEFAULT), H5Gclose);
      if (!child) {
        fail(path, "a readable group", "damaged bytes");
      }
      walk(child.get(), path + "/", depth + 1);
    } else {
      fail(path, "a group or dataset", "another object");
    }
  }
}

void ReadFile::add_dataset(std::int64_t parent, const std::string& name, const std::string& path) {
  const Handle dataset(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle creation(dataset ? H5Dget_create_plist(dataset.get()) : -1, H5Pclose);
  if (!creation) {
    fail(path, "a readable dataset", "damaged bytes");
  }
  // first of all: the extent of a virtual dataset is asked of other files
  if (H5Pget_external_count(creation.get()) != 0) {
    fail(path, "data inside the file", "external storage");
  }
  if (H5Pget_layout(creation.get()) != H5D_CONTIGUOUS || H5Pget_nfilters(creation.get()) != 0) {
    fail(path, "contiguous storage", "another layout (virtual, chunked, compact or filtered)");
  }
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  if (!type || !space) {
    fail(path, "a readable dataset", "damaged bytes");
  }
  DatasetInfo info{path, known_type(type.get()), {}, {}, 0};
  if (info.type.name.empty()) {
    fail(path, "little-endian numbers or fixed-length strings", "another element type");
  }
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (H5Sis_simple(space.get()) <= 0 || H5Sget_simple_extent_type(space.get()) == H5S_NULL || rank < 0 ||
      rank > max_rank) {
    fail(path, "at most " + std::to_string(max_rank) + " dimensions", "another extent");
  }
  std::vector<hsize_t> dimensions(static_cast<std::size_t>(rank));
  std::vector<hsize_t> limits(dimensions.size());
  H5Sget_simple_extent_dims(space.get(), dimensions.data(), limits.data());
  info.extents.assign(dimensions.begin(), dimensions.end());
  std::uint64_t bytes = info.type.width;
  bool overflow = dimensions != limits;
  for (const std::uint64_t extent : info.extents) {
    overflow = overflow || __builtin_mul_overflow(bytes, extent, &bytes);
  }
  const std::uint64_t offset = H5Dget_offset(dataset.get());
  info.offset = offset;
  const bool stored = bytes == 0 || (offset != HADDR_UNDEF && offset <= file_bytes_ && bytes <= file_bytes_ - offset &&
                                     H5Dget_storage_size(dataset.get()) == bytes);
  if (overflow || !stored) {
    fail(path, "data inside the file's " + std::to_string(file_bytes_) + " bytes",
         info.type.to_string() + " " + to_string(info.extents));
  }
  if (!read_attribute(dataset.get(), "digest", ElementType::of<std::uint8_t>(), {info.digest.size()},
                      info.digest.data())) {
    fail(path, "an attribute digest", "none");
  }
  datasets_.emplace(path, std::move(info));
}

const DatasetInfo& ReadFile::find(const std::string& name, const ElementType& type) const {
  const auto found = datasets_.find(name);
  if (found == datasets_.end()) {
    fail(name, "a dataset", "nothing");
  }
  if (found->second.type != type) {
    fail(name, type.to_string(), found->second.type.to_string());
  }
  return found->second;
}

void ReadFile::check_extents(const DatasetInfo& info, const Extents& expected) const {
  if (info.extents != expected) {
    fail(info.name, to_string(expected), to_string(info.extents));
  }
}

void ReadFile::check_list(const DatasetInfo& info, std::uint64_t max_count) const {
  if (info.extents.size() != 1 || info.extents.front() > max_count) {
    fail(info.name, "a list of at most " + std::to_string(max_count) + " entries", to_string(info.extents));
  }
}

void ReadFile::read_whole(const DatasetInfo& info, std::span<std::byte> bytes) const {
  const Handle dataset(H5Dopen2(file_, info.name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(hdf5::make_type(info.type), H5Tclose);
  if (!dataset ||
      (!bytes.empty() && H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)) {
    fail(info.name, "readable data", hdf5::last_error());
  }
  require_digest(info, blake2s({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

void ReadFile::check(const std::string& name) const {
  constexpr std::uint64_t piece = 1 << 22;
  const auto found = datasets_.find(name);
  if (found == datasets_.end()) {
    fail(name, "a dataset", "nothing");
  }
  const DatasetInfo& info = found->second;
  if (info.bytes() <= piece || info.extents.front() == 1) {
    std::vector<std::byte> bytes(info.bytes());
    read_whole(info, bytes);
    return;
  }
  const std::uint64_t row_bytes = info.bytes() / info.extents.front();
  const std::uint64_t rows = std::max<std::uint64_t>(1, piece / row_bytes);
  Blake2s hash;
  for (std::uint64_t first = 0; first < info.extents.front(); first += rows) {
    Extents start(info.extents.size(), 0);
    Extents count = info.extents;
    start.front() = first;
    count.front() = std::min(rows, info.extents.front() - first);
    std::vector<std::byte> bytes(count.front() * row_bytes);
    read_slab(info, start, count, bytes);
    hash.update({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  require_digest(info, hash.digest());
}

void ReadFile::require_digest(const DatasetInfo& info, const Digest& computed) const {
  if (computed != info.digest) {
    fail(info.name, "digest " + to_hex(info.digest), to_hex(computed) + " (the file is damaged)");
  }
}

void ReadFile::read_bytes(const DatasetInfo& info, std::uint64_t begin, std::span<std::byte> bytes) const {
  static_assert(std::endian::native == std::endian::little, "values are read as they are stored");
  if (begin > info.bytes() || bytes.size() > info.bytes() - begin) {
    throw std::logic_error("ReadFile: a part beyond the end of " + info.name);
  }
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(file_, H5P_DEFAULT, &descriptor) < 0) {
    fail(info.name, "readable data", hdf5::last_error());
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t read = pread(*static_cast<const int*>(descriptor), bytes.data() + done, bytes.size() - done,
                               static_cast<off_t>(info.offset + begin + done));
    if (read < 0 && errno == EINTR) {
      continue;
    }
    if (read <= 0) {
      fail(info.name, "readable data", read < 0 ? std::strerror(errno) : "the end of the file");
    }
    done += static_cast<std::size_t>(read);
  }
}

void ReadFile::read_slab(const DatasetInfo& info, const Extents& start, const Extents& count,
                         std::span<std::byte> bytes) const {
  std::uint64_t size = info.type.width;
  bool inside = start.size() == info.extents.size() && count.size() == start.size() && !start.empty();
  for (std::size_t i = 0; inside && i < start.size(); ++i) {
    inside = start[i] <= info.extents[i] && count[i] <= info.extents[i] - start[i];
    size *= count[i];
  }
  if (!inside || size != bytes.size()) {
    throw std::logic_error("ReadFile: a part beyond the end of " + info.name);
  }
  if (bytes.empty()) {
    return;
  }
  const std::vector<hsize_t> from(start.begin(), start.end());
  const std::vector<hsize_t> extent(count.begin(), count.end());
  const Handle dataset(H5Dopen2(file_, info.name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(hdf5::make_type(info.type), H5Tclose);
  const Handle space(dataset ? H5Dget_space(dataset.get()) : -1, H5Sclose);
  const Handle memory(hdf5::make_space({extent.begin(), extent.end()}), H5Sclose);
  if (!space || H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr) < 0 ||
      H5Dread(dataset.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()) < 0) {
    fail(info.name, "readable data", hdf5::last_error());
  }
}

}  // namespace tessera
