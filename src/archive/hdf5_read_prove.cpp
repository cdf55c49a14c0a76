#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "archive/file_image.hpp"
#include "archive/hdf5.hpp"
#include "archive/hdf5_handle.hpp"
#include "hash/merkle_tree.hpp"
#include "archive/library_image.hpp"
#include "base/side_by_side.hpp"
#include "datasets/hdf5_image.hpp"
#include "files/descriptor.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

/// More is read by all threads, unless they read several datasets side by side.
constexpr std::size_t read_at_once = std::size_t{1} << 22;

/// blake2s_lanes() on all threads.
void hash_side_by_side(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests) {
  constexpr std::size_t at_once = 8;
#pragma omp parallel for schedule(static) if (digests.size() > at_once)
  for (std::size_t first = 0; first < digests.size(); first += at_once) {
    const std::size_t count = std::min(at_once, digests.size() - first);
    blake2s_lanes(messages.subspan(first * length, count * length), length, digests.subspan(first, count));
  }
}

/// What the library tells of a group, as far as it is wanted.
struct Links {
  std::size_t most = 0;
  std::vector<std::pair<std::string, int>> found = {};
};

/// Called by the library: no exception may pass. 1 stops the iteration.
herr_t collect_link(hid_t /*group*/, const char* name, const H5L_info_t* info, void* data) noexcept {
  auto& links = *static_cast<Links*>(data);
  if (links.found.size() >= links.most) {
    return 1;
  }
  try {
    links.found.emplace_back(name, info->type);
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

std::string link_kind(int type) {
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

std::optional<Digest> read_digest(hid_t object) {
  Digest digest{};
  const bool found = read_attribute(object, "digest", ElementType::of<std::uint8_t>(), {digest.size()}, digest.data());
  return found ? std::optional(digest) : std::nullopt;
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

ReadFile::ReadFile(const fs::path& path, std::string_view format, std::uint64_t max_bytes)
    : DatasetFile(path.string(), hash_side_by_side), path_(path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.get(), false, true);  // read-only files on network file systems
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  image_ = hdf5::use_image(access.get(), path);
  set_file_bytes(image_.empty() ? regular_file_size(path) : image_.size(), max_bytes);
  hdf5::silence();
  // the library makes sure that no file has an image's name: there is none below a regular file
  const Handle file(H5Fopen((image_.empty() ? path : path / "image").c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file) {
    throw InputError(path.string() + ": expected an HDF5 file of ours, found a damaged or other file (" +
                     hdf5::last_error() + ")");
  }
  open(file.get(), format);
  if (image_.empty()) {
    void* descriptor = nullptr;
    if (H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &descriptor) < 0) {
      throw InputError(path.string() + ": expected a readable file, found " + hdf5::last_error());
    }
    descriptor_ = fcntl(*static_cast<const int*>(descriptor), F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) {
      throw InputError(path.string() + ": expected a readable file, found " + std::strerror(errno));
    }
  }
}

ReadFile::~ReadFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void ReadFile::open(std::int64_t file, std::string_view format) {
  FileHead head{read_format(file)};
  std::uint32_t version = 0;
  if (read_attribute(file, "format_version", ElementType::of<std::uint32_t>(), {}, &version)) {
    head.version = version;
  }
  head.digest = read_digest(file);
  set_head(head, format);
  walk(file, "", 0);
  check_digest();
}

std::vector<std::pair<std::string, int>> ReadFile::links(std::int64_t group, const std::string& prefix) const {
  // Only links in dense storage, and only in their stored order: for anything else the library collects the links in a
  // table first, and if one of them is damaged it frees entries of the table that it has not filled (HDF5 1.10.8).
  H5G_info_t storage{};
  if (H5Gget_info(group, &storage) < 0) {
    fail("/" + prefix, "a readable group", "damaged bytes");
  }
  if (storage.nlinks == 0) {
    return {};
  }
  if (storage.storage_type != H5G_STORAGE_TYPE_DENSE) {
    fail("/" + prefix, "a group with dense link storage", hdf5::rewritten);
  }
  Links links{max_objects};
  const herr_t status = H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_link, &links);
  if (status != 0) {
    fail("/" + prefix, "a readable group of at most " + std::to_string(max_objects) + " objects",
         status > 0 ? "more" : "damaged bytes");
  }
  return std::move(links.found);
}

void ReadFile::walk(std::int64_t group, const std::string& prefix, unsigned depth) {
  if (depth > max_depth) {
    fail(prefix, "at most " + std::to_string(max_depth) + " nested groups", "more");
  }
  for (const auto& [name, kind] : links(group, prefix)) {
    const std::string path = prefix + name;
    if (kind != H5L_TYPE_HARD) {
      fail(path, "a hard link", link_kind(kind));
    }
    H5O_info_t info{};
    if (H5Oget_info_by_name2(group, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
      fail(path, "a readable object", "damaged bytes");
    }
    if (info.rc != 1) {
      fail(path, "an object linked once", std::to_string(info.rc) + " links");
    }
    see_object(path, info.addr);  // the count of links is the file's word
    if (info.type == H5O_TYPE_DATASET) {
      read_dataset(group, name, path);
    } else if (info.type == H5O_TYPE_GROUP) {
      const Handle child(H5Gopen2(group, name.c_str(), H5P_DEFAULT), H5Gclose);
      if (!child) {
        fail(path, "a readable group", "damaged bytes");
      }
      walk(child.get(), path + "/", depth + 1);
    } else {
      fail(path, "a group or dataset", "another object");
    }
  }
}

void ReadFile::read_dataset(std::int64_t parent, const std::string& name, const std::string& path) {
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
  DatasetInfo info{path, known_type(type.get())};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (H5Sis_simple(space.get()) <= 0 || H5Sget_simple_extent_type(space.get()) == H5S_NULL || rank < 0 ||
      static_cast<std::size_t>(rank) > max_rank) {
    fail(path, "at most " + std::to_string(max_rank) + " dimensions", "another extent");
  }
  std::vector<hsize_t> dimensions(static_cast<std::size_t>(rank));
  std::vector<hsize_t> limits(dimensions.size());
  H5Sget_simple_extent_dims(space.get(), dimensions.data(), limits.data());
  info.extents.assign(dimensions.begin(), dimensions.end());
  if (dimensions != limits) {
    fail(path, "a dataset of one size", "one that may grow");
  }
  const haddr_t offset = H5Dget_offset(dataset.get());
  add_dataset(std::move(info), {offset == HADDR_UNDEF ? std::nullopt : std::optional<std::uint64_t>(offset),
                                H5Dget_storage_size(dataset.get()), read_digest(dataset.get())});
}

void ReadFile::expect_at(std::uint64_t offset, std::uint64_t bytes) const {
  if (image_.empty()) {  // advice: what is refused costs time alone
    (void)posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
  }
}

void ReadFile::read_at(const DatasetInfo& info, std::uint64_t offset, std::span<std::byte> bytes) const {
  static_assert(std::endian::native == std::endian::little, "values are read as they are stored");
  if (!image_.empty()) {
    std::ranges::copy(image_.subspan(offset, bytes.size()), bytes.begin());
    return;
  }
  if (bytes.size() > read_at_once) {  // a page that is touched first costs more than what is read into it
    run_side_by_side((bytes.size() + read_at_once - 1) / read_at_once, [&](std::size_t part) {
      const std::size_t begin = part * read_at_once;
      read_at(info, offset + begin, bytes.subspan(begin, std::min(read_at_once, bytes.size() - begin)));
    });
    return;
  }
  if (const std::string error = read_all(descriptor_, offset, bytes); !error.empty()) {
    fail(info.name, "readable data", error);
  }
}

}  // namespace tessera
