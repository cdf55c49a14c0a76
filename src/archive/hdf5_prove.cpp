#include "archive/hdf5.hpp"

#include "archive/hdf5_handle.hpp"

namespace tessera::hdf5 {
namespace {

herr_t keep_innermost(unsigned position, const H5E_error2_t* entry, void* data) {
  if (position == 0 && entry->desc != nullptr) {
    *static_cast<std::string*>(data) = entry->desc;
  }
  return 0;
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

}  // namespace tessera::hdf5
