#include <cstdio>
#include <memory>
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"
#include "cluster/agreement.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string model, text;
};

void run(const Options& options, Context& context) {
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
  std::printf("tokens scored       %zu in %zu windows of %zu\n", result.tokens, result.windows,
              model.shape.n_positions);
  std::printf("integer perplexity  %.6f\n", result.integer_perplexity);
  if (result.float_perplexity) {
    std::printf("float perplexity    %.6f\n", *result.float_perplexity);
    std::printf("ratio               %.6f\n", result.integer_perplexity / *result.float_perplexity);
  }
}

}  // namespace

Command add_evaluate(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("evaluate", "Perplexity of the integer model beside the float model");
  app->add_option("--model", options->model, "model file")->required();
  app->add_option("--text", options->text, "text file to score")->required();
  return {app, [options](Context& context) { run(*options, context); }};
}

}  // namespace tessera::cli
