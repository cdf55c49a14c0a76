#pragma once

#include <hdf5.h>

#include <string>
#include "archive/hdf5.hpp"

namespace tessera::hdf5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t));

/// Owns an HDF5 identifier; closes it on destruction. Negative = failed.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  ~Handle() {
    if (id_ >= 0) {
      closer_(id_);
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  Closer closer_;
};

/// The library prints its error stack by default; we turn it into exceptions.
void silence();
/// The system's message in the innermost entry of the error stack ("No space left on device"), else that entry's text.
std::string last_error();
/// A datatype of the file format: little-endian numbers, NUL-padded UTF-8 strings. To be closed by the caller.
hid_t make_type(const ElementType& type);
hid_t make_space(const Extents& extents);

}  // namespace tessera::hdf5
