#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"

#include "base/text.hpp"
#include "cli/command.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/synthesis.hpp"

namespace tessera::cli {

void run(const SynthesizeCommand& options, Context& context) {
  (void)WriteFile(options.out, model_format);  // an unwritable target is better found now
  const CheckpointConfig config = read_checkpoint_config(options.shape, options.context);
  context.progress.begin("synthesizing and calibrating");
  const Model synthetic = synthesize_model(config, options.seed);
  context.progress.begin("writing " + options.out);
  const Digest digest = save_model(options.out, synthetic);
  context.progress.finish();
  std::cout << one_line(options.out) << ": digest " << to_hex(digest) << '\n';
}

}  // namespace tessera::cli
