#include <cstdio>
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"
#include "cluster/agreement.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {

void run(const EvaluateCommand& options, Context& context) {
  const Model model = load_model(options.model, context.comm.rank(), context.comm.size());
  require_agreement(context.comm, options.model, ReadFile(options.model).digest());
  const std::optional<FloatModel> original = context.comm.rank() == 0 ? load_float_model(options.model) : std::nullopt;
  const std::string text = read_text_file(options.text);
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
