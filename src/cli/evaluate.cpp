#include <cstdio>
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"
#include "base/errors.hpp"
#include "base/heap.hpp"
#include "cluster/agreement.hpp"
#include "cluster/serialization.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "checkpoints/checkpoint.hpp"

namespace tessera::cli {
namespace {

/// The checkpoint to compare with, if there is one.
std::optional<FloatModel> load_original(const EvaluateCommand& options, const Model& model) {
  if (options.checkpoint.empty()) {
    return std::nullopt;
  }
  const bool fixed_context = !model.shape.rotary();
  FloatModel original =
      load_checkpoint(options.checkpoint, fixed_context ? std::nullopt : std::optional(model.shape.n_positions));
  if (original.shape != model.shape) {
    throw InputError("--checkpoint " + options.checkpoint + ": expected the sizes of " + options.model +
                     ", found others");
  }
  return original;
}

}  // namespace

void run(const EvaluateCommand& options, Context& context) {
  keep_freed_heap();
  const Model model = load_model(options.model, context.comm.rank(), Division::finest(context.comm.size()));
  require_agreement(context.comm, options.model, ReadFile(options.model).digest());
  const std::optional<FloatModel> original = context.comm.rank() == 0 ? load_original(options, model) : std::nullopt;
  std::string text;
  fail_together(context.comm, [&] { text = context.comm.rank() == 0 ? read_text_file(options.text) : text; });
  broadcast_object(context.comm, text);
  const Evaluation result =
      evaluate_model(model, original ? &*original : nullptr, text, context.comm, context.progress);
  context.progress.finish();
  if (context.comm.rank() != 0) {
    return;
  }
  const Comparison& found = result.comparison;
  const auto predicted = static_cast<double>(found.integer.predicted);
  std::printf("tokens scored       %zu in %zu windows of %zu\n", found.integer.predicted, result.windows,
              model.shape.n_positions);
  std::printf("integer perplexity  %.6f\n", found.integer.value());
  if (found.compared) {
    std::printf("float perplexity    %.6f\n", found.original.value());
    std::printf("ratio               %.6f\n", found.integer.value() / found.original.value());
    std::printf("divergence          %.3e nats a token, float to integer\n", found.divergence / predicted);
    std::printf("same likeliest      %.3f %%\n", 100.0 * static_cast<double>(found.agreements) / predicted);
  }
}

}  // namespace tessera::cli
