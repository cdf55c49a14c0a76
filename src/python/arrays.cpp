#include "arrays.hpp"

#include <cstring>

namespace nb = nanobind;

namespace tessera::python {

std::span<const std::uint8_t> bytes_in(const nb::bytes& bytes) {
  return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::vector<std::uint32_t> ids_in(const nb::bytes& bytes) {
  std::vector<std::uint32_t> ids(bytes.size() / sizeof(std::uint32_t));
  if (!ids.empty()) {
    std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(std::uint32_t));
  }
  return ids;
}

nb::str text(std::string_view bytes) {
  PyObject* const decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (decoded == nullptr) {
    throw nb::python_error();
  }
  return nb::steal<nb::str>(decoded);
}

Texts texts(const std::vector<std::string_view>& all) {
  nb::list list;
  for (const std::string_view one : all) {
    list.append(text(one));
  }
  return Texts(nb::tuple(list));
}

}  // namespace tessera::python
