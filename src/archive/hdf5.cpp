#include "archive/hdf5.hpp"

#include "archive/hdf5_handle.hpp"
#include "base/little_endian.hpp"

namespace tessera {

std::uint64_t DatasetInfo::count() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : extents) {
    product *= extent;
  }
  return product;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string to_string(const Extents& extents) {
  std::string text = "(";
  for (const std::uint64_t extent : extents) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + ")";
}

namespace hdf5 {
namespace {

herr_t keep_innermost(unsigned position, const H5E_error2_t* entry, void* data) {
  if (position == 0 && entry->desc != nullptr) {
    *static_cast<std::string*>(data) = entry->desc;
  }
  return 0;
}

void append_text(std::vector<std::uint8_t>& message, const std::string& text) {
  append_little_endian<std::uint64_t>(message, text.size());
  message.insert(message.end(), text.begin(), text.end());
}

hid_t number_type(const std::string& name) {
  static const std::map<std::string, hid_t> types = {
      {"uint8", H5T_STD_U8LE},   {"int16", H5T_STD_I16LE},    {"uint16", H5T_STD_U16LE},
      {"int32", H5T_STD_I32LE},  {"uint32", H5T_STD_U32LE},   {"int64", H5T_STD_I64LE},
      {"uint64", H5T_STD_U64LE}, {"float32", H5T_IEEE_F32LE}, {"float64", H5T_IEEE_F64LE}};
  const auto found = types.find(name);
  return found == types.end() ? H5I_INVALID_HID : found->second;
}

}  // namespace

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string last_error() {
  std::string text = "unknown HDF5 error";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
  static constexpr std::string_view mark = "error message = '";
  const std::size_t begin = text.find(mark);
  if (begin != std::string::npos) {
    const std::size_t first = begin + mark.size();
    return text.substr(first, text.find('\'', first) - first);
  }
  return text;
}

hid_t make_type(const ElementType& type) {
  if (type.name != "string") {
    return H5Tcopy(number_type(type.name));
  }
  const hid_t copy = H5Tcopy(H5T_C_S1);
  H5Tset_size(copy, type.width);
  H5Tset_strpad(copy, H5T_STR_NULLPAD);
  H5Tset_cset(copy, H5T_CSET_UTF8);
  return copy;
}

hid_t make_space(const Extents& extents) {
  if (extents.empty()) {
    return H5Screate(H5S_SCALAR);
  }
  const std::vector<hsize_t> dimensions(extents.begin(), extents.end());
  return H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr);
}

Digest file_digest(const std::string& format, std::uint32_t version,
                   const std::map<std::string, DatasetInfo>& datasets) {
  static constexpr std::string_view domain = "tessera file\n";
  std::vector<std::uint8_t> message(domain.begin(), domain.end());
  append_text(message, format);
  append_little_endian<std::uint64_t>(message, version);
  append_little_endian<std::uint64_t>(message, datasets.size());
  for (const auto& [name, info] : datasets) {
    append_text(message, name);
    append_text(message, info.type.to_string());
    append_little_endian<std::uint64_t>(message, info.extents.size());
    for (const std::uint64_t extent : info.extents) {
      append_little_endian<std::uint64_t>(message, extent);
    }
    message.insert(message.end(), info.digest.begin(), info.digest.end());
  }
  return blake2s(message);
}

}  // namespace hdf5
}  // namespace tessera
