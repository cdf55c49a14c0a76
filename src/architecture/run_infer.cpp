#include "architecture/inference.hpp"

namespace tessera {
namespace {

std::function<void(std::size_t)> count_units(const Progress& progress, const ModelPlan& plan) {
  if (!progress) {
    return {};
  }
  return [progress, total = plan.padded_tokens * plan.model.n_layer, done = std::size_t{0}](std::size_t units) mutable {
    progress(done += units, total);
  };
}

}  // namespace

Trace run_inference(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                    Communicator& comm, const Progress& progress, const PastState& past) {
  IntegerTransformer transformer(model, plan, Record::trace, comm, count_units(progress, plan), past);
  transformer.append(prompt);
  std::uint32_t token = transformer.select(transformer.length() - 1, 0);
  for (std::size_t g = 1; g < plan.generated; ++g) {
    transformer.append({&token, 1});
    token = transformer.select(transformer.length() - 1, g);
  }
  // nothing waits for the last token's row, if it has one: it runs with the filler
  std::vector<std::uint32_t> rest(plan.padded_tokens - transformer.length(), plan.filler);
  if (transformer.length() < plan.tokens) {
    rest.front() = token;
  }
  transformer.append(rest);
  Trace trace = transformer.take_trace();
  trace.last_token = token;
  return trace;
}

Trace run_one_pass(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                   std::span<const std::uint32_t> generated, Communicator& comm, const Progress& progress,
                   const PastState& past) {
  IntegerTransformer transformer(model, plan, Record::trace, comm, count_units(progress, plan), past);
  std::vector<std::uint32_t> tokens(prompt.begin(), prompt.end());
  tokens.insert(tokens.end(), generated.begin(), generated.end());
  tokens.resize(plan.tokens);
  tokens.resize(plan.padded_tokens, plan.filler);
  transformer.append(tokens);
  for (std::size_t g = 0; g < generated.size(); ++g) {
    transformer.select(prompt.size() + g - 1, g);
  }
  Trace trace = transformer.take_trace();
  trace.last_token = generated.back();
  return trace;
}

}  // namespace tessera
