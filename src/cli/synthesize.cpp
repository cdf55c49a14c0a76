#include <iostream>
#include <memory>
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string shape, out;
  std::uint64_t seed = 0;
};

void run(const Options& options, Context& context) {
  if (context.comm.rank() != 0) {
    return;  // one process's work
  }
  (void)WriteFile(options.out, model_format);  // an unwritable target is better found now
  const Imported synthetic = synthesize_model(options.shape, options.seed, context.progress);
  context.progress.begin("writing " + options.out);
  // no float weights: they can be synthesized again
  const Digest digest = save_model(options.out, synthetic.model, nullptr);
  context.progress.finish();
  std::cout << one_line(options.out) << ": digest " << to_hex(digest) << '\n';
}

}  // namespace

Command add_synthesize(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand(
      "synthesize", "Make a model of a given shape with seeded random parameters, for measuring");
  app->add_option("--shape", options->shape, "config.json of the shape")->required();
  app->add_option("--seed", options->seed, "seed of the parameters")->required();
  app->add_option("--out", options->out, "model file to write")->required();
  return {app, [options](Context& context) { run(*options, context); }};
}

}  // namespace tessera::cli
