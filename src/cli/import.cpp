#include <cstring>
#include <iostream>
#include <memory>
#include "archive/hdf5.hpp"
#include "archive/isolated.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "base/text.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string checkpoint, out, calibrate, exponents;
};

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

void run(const Options& options, Context& context) {
  if (context.comm.rank() != 0) {
    return;  // import is one process's work
  }
  (void)WriteFile(options.out, model_format);  // an unwritable target is better found now
  std::optional<std::string> text;
  if (!options.calibrate.empty()) {
    text = read_text_file(options.calibrate);
  }
  std::optional<Exponents> exponents;
  if (!options.exponents.empty()) {
    exponents = load_exponents(options.exponents);
  }
  const Imported imported = import_model(options.checkpoint, text, exponents, context.progress);
  context.progress.begin("writing " + options.out);
  const Digest digest = save_model(options.out, imported.model, &imported.original);
  context.progress.finish();
  std::cout << one_line(options.out) << ": digest " << to_hex(digest) << '\n';
}

}  // namespace

Command add_import(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("import", "Quantize a GPT-2 checkpoint into a model file");
  app->add_option("--checkpoint", options->checkpoint, "folder with config.json, *.safetensors, vocab.json, merges.txt")
      ->required();
  app->add_option("--out", options->out, "model file to write")->required();
  CLI::Option* const calibrate =
      app->add_option("--calibrate", options->calibrate, "text to calibrate on (default: sampled from the model)");
  app->add_option("--exponents", options->exponents, "take the exponents of this verifying key or model file")
      ->excludes(calibrate);
  return {app, [options](Context& context) { run(*options, context); }};
}

}  // namespace tessera::cli
