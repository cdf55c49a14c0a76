#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tessera::python {

/// The values as they stand in memory, for numpy.frombuffer().
template <class T>
nanobind::bytes raw(std::span<const T> values) {
  return nanobind::bytes(values.data(), values.size_bytes());
}

/// Bytes of the caller's, which keep living where `bytes` does.
std::span<const std::uint8_t> bytes_in(const nanobind::bytes& bytes);
/// Token ids, uint32.
std::vector<std::uint32_t> ids_in(const nanobind::bytes& bytes);

/// Text of a stranger; what is not UTF-8 in it is U+FFFD.
nanobind::str text(std::string_view bytes);
using Texts = nanobind::typed<nanobind::tuple, nanobind::str, nanobind::ellipsis>;
Texts texts(const std::vector<std::string_view>& all);

}  // namespace tessera::python
