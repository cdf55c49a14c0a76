#pragma once

#include <cstdlib>
#include <stdexcept>

#include <gtest/gtest.h>
#include "archive/key_file.hpp"
#include "integer_model/import.hpp"

namespace tessera::golden {

/// Imports a bundled model with the choices of its golden key, where it has one: calibration sums in float32, whose
/// last bits are the processor's, and what tests know of a model may not hang on them.
inline ImportedModel import_bundled(const std::string& name) {
  const std::filesystem::path source(TESSERA_SOURCE_DIR);
  const std::filesystem::path packed = source / "tests" / "golden" / (name + ".key.gz");
  ImportOptions options;
  if (std::filesystem::exists(packed)) {
    std::string folder = ::testing::TempDir() + "golden_XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      throw std::runtime_error("no folder in " + ::testing::TempDir());
    }
    const std::filesystem::path unpacked = std::filesystem::path(folder) / "key";
    const std::string command = "gunzip -c '" + packed.string() + "' >'" + unpacked.string() + "'";
    if (std::system(command.c_str()) != 0) {
      throw std::runtime_error(command);
    }
    const VerifyingKey key = load_key(unpacked);
    std::filesystem::remove_all(folder);
    options.choices = ImportChoices{key.exponents, key.widths, key.equalisation, key.shape.n_positions};
    if (!key.shape.rotary()) {
      options.choices->n_positions = 0;
    }
  }
  return import_model(source / "configs" / name, options);
}

}  // namespace tessera::golden
