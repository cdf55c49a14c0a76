#include "datasets/image_file.hpp"

#include <algorithm>

#include "base/little_endian.hpp"
#include "datasets/hdf5_links.hpp"

namespace tessera {
namespace {

std::optional<Digest> digest_of(const hdf5::ObjectHeader& object) {
  Digest digest{};
  const auto value = object.attribute("digest", ElementType::of<std::uint8_t>(), {digest.size()});
  if (!value) {
    return std::nullopt;
  }
  std::ranges::copy(*value, digest.begin());
  return digest;
}

FileHead head_of(const hdf5::ObjectHeader& root) {
  constexpr std::size_t max_format = 64;
  FileHead head{root.text_attribute("format", max_format).value_or("")};
  if (const auto version = root.attribute("format_version", ElementType::of<std::uint32_t>(), {})) {
    head.version = read_little_endian<std::uint32_t>(version->data());
  }
  head.digest = digest_of(root);
  return head;
}

}  // namespace

DirectFile::DirectFile(const std::string& name, std::span<const std::uint8_t> image, std::string_view format,
                       std::uint64_t max_bytes)
    : DatasetFile(name) {
  if (image.empty()) {
    throw InputError(name + ": expected an HDF5 file of ours, found an empty file");
  }
  set_file_bytes(image.size(), max_bytes);
  try {
    const hdf5::Image file(image);
    const hdf5::ObjectHeader root(file, file.root());
    set_head(head_of(root), format);
    see_object("/", file.root());
    walk(file, root, "", 0);
  } catch (const hdf5::Rewritten& error) {
    throw InputError(name + ": expected an HDF5 file as tessera writes it, found " + hdf5::rewritten + " (" +
                     error.what() + ")");
  } catch (const hdf5::Damaged& error) {
    throw InputError(name + ": expected an HDF5 file of ours, found a damaged or other file (" + error.what() + ")");
  }
  check_digest();
}

void DirectFile::walk(const hdf5::Image& image, const hdf5::ObjectHeader& group, const std::string& prefix,
                      unsigned depth) {
  if (depth > max_depth) {
    fail(prefix, "at most " + std::to_string(max_depth) + " nested groups", "more");
  }
  const auto info = group.find(hdf5::Message::link_info);
  if (!info || group.find(hdf5::Message::link)) {
    fail("/" + prefix, "a group with dense link storage", hdf5::rewritten);
  }
  for (const hdf5::Link& link : hdf5::read_links(image, *info, max_objects)) {
    const std::string path = prefix + link.name;
    see_object(path, link.address);
    const hdf5::ObjectHeader object(image, link.address);
    if (object.find(hdf5::Message::layout)) {
      add(path, object);
    } else {
      walk(image, object, path + "/", depth + 1);
    }
  }
}

void DirectFile::add(const std::string& path, const hdf5::ObjectHeader& dataset) {
  const auto type = dataset.find(hdf5::Message::datatype);
  const auto space = dataset.find(hdf5::Message::dataspace);
  if (!type || !space || dataset.find(hdf5::Message::link_info)) {
    fail(path, "a readable dataset", "damaged bytes");
  }
  const hdf5::Place place = hdf5::place_of(*dataset.find(hdf5::Message::layout));
  add_dataset({path, hdf5::element_type(*type), hdf5::extents_of(*space)},
              {place.offset, place.bytes, digest_of(dataset)});
}

ImageFile::ImageFile(const std::string& name, std::span<const std::uint8_t> image, std::string_view format,
                     std::uint64_t max_bytes)
    : DirectFile(name, image, format, max_bytes), image_(image) {}

std::span<const std::uint8_t> ImageFile::list_in_place(const std::string& name, std::uint64_t max_count) const {
  const DatasetInfo& info = find(name, ElementType::of<std::uint8_t>());
  check_list(info, max_count);
  const auto size = static_cast<std::size_t>(info.bytes());
  const auto bytes = size == 0 ? image_.first(0) : image_.subspan(static_cast<std::size_t>(info.offset), size);
  require_digest(info, dataset_digest(std::as_bytes(bytes)));
  return bytes;
}

void ImageFile::read_at(const DatasetInfo& /*info*/, std::uint64_t offset, std::span<std::byte> bytes) const {
  std::ranges::copy(std::as_bytes(image_).subspan(static_cast<std::size_t>(offset), bytes.size()), bytes.begin());
}

}  // namespace tessera
