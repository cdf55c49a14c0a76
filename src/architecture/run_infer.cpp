#include "architecture/inference.hpp"

#include <algorithm>

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

OtherToken::OtherToken(std::size_t number, std::uint32_t known_id, std::uint32_t chosen_id)
    : std::invalid_argument("integer inference: token " + std::to_string(number) + " is known as " +
                            std::to_string(known_id) + ", and the model chooses " + std::to_string(chosen_id)),
      place(number),
      known(known_id),
      chosen(chosen_id) {}

Trace run_inference(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                    Communicator& comm, const Progress& progress, const PastState& past, const Generation& generation) {
  IntegerTransformer transformer(model, plan, Record::trace, comm, count_units(progress, plan), past);
  std::vector<std::uint32_t> ids(
      generation.known.begin(),
      generation.known.begin() + std::min(std::ssize(generation.known), static_cast<std::ptrdiff_t>(plan.generated)));
  const std::vector<std::uint32_t> known = ids;
  if (!ids.empty()) {
    ids.pop_back();  // its row comes with the next one
  }
  ids.insert(ids.begin(), prompt.begin(), prompt.end());
  transformer.append(ids);
  ids = transformer.select({prompt.size() - 1, prompt.size() - 1 + known.size()}, 0);
  if (const auto other = std::ranges::mismatch(ids, known); other.in1 != ids.end()) {
    throw OtherToken(static_cast<std::size_t>(other.in1 - ids.begin()), *other.in2, *other.in1);
  }
  std::uint32_t token = known.empty() ? 0 : known.back();
  for (std::size_t g = known.size(); g < plan.generated; ++g) {
    if (g > 0) {
      transformer.append({&token, 1});
    }
    token = transformer.select({prompt.size() + g - 1, prompt.size() + g}, g).front();
    ids.push_back(token);
    if (generation.chosen) {
      generation.chosen(ids);
    }
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
  transformer.select({prompt.size() - 1, prompt.size() - 1 + generated.size()}, 0);
  Trace trace = transformer.take_trace();
  trace.last_token = generated.back();
  return trace;
}

}  // namespace tessera
