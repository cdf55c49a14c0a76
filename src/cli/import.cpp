#include <cstring>
#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/isolated.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "base/text.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "model/import.hpp"

namespace tessera::cli {
namespace {

/// Exponents of a key or of another model file, which are mostly somebody else's.
Exponents load_exponents(const std::string& path) {
  const auto read = [&path] {
    const Exponents found =
        ReadFile(path).format() == key_format ? load_key(path).exponents : load_model(path).exponents;
    std::vector<std::uint8_t> bytes(sizeof found);
    std::memcpy(bytes.data(), &found, sizeof found);
    return bytes;
  };
  const std::vector<std::uint8_t> bytes = read_isolated(path, read, IsolationLimits::for_whole(path));
  Exponents exponents;
  if (bytes.size() != sizeof exponents) {
    throw InputError(path + ": expected exponents, found other bytes");
  }
  std::memcpy(&exponents, bytes.data(), sizeof exponents);
  return exponents;
}

}  // namespace

void run(const ImportCommand& options, Context& context) {
  (void)WriteFile(options.out, model_format);  // an unwritable target is better found now
  std::optional<std::string> text;
  if (!options.calibrate.empty()) {
    text = read_text_file(options.calibrate);
  }
  std::optional<Exponents> exponents;
  if (!options.exponents.empty()) {
    exponents = load_exponents(options.exponents);
  }
  context.progress.begin(exponents ? "reading checkpoint" : "calibrating");
  const ImportedModel imported = import_model(options.checkpoint, {text, exponents, context.progress.updates()});
  context.progress.begin("writing " + options.out);
  const Digest digest = save_model(options.out, imported.model, &imported.float_model.parameters);
  context.progress.finish();
  std::cout << one_line(options.out) << ": digest " << to_hex(digest) << '\n';
}

}  // namespace tessera::cli
