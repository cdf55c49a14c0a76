#pragma once

#include <filesystem>
#include <string>
#include "base/errors.hpp"

namespace tessera {

/// Adds the file's name to errors of checks that do not know it.
template <class Body>
auto naming(const std::filesystem::path& path, Body&& body) {
  try {
    return body();
  } catch (const InputError& error) {
    const std::string what = error.what();
    throw InputError(what.starts_with(path.string()) ? what : path.string() + ": " + what);
  }
}

}  // namespace tessera
