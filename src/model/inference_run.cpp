#include <bit>
#include <stdexcept>
#include <string>

#include "model/inference.hpp"

namespace tessera {
namespace {

/// s_hat = 2^ceil(log2 s) of a statement, after checking it.
std::size_t padded_tokens(const IntegerModel& model, std::size_t prompt, std::size_t generated) {
  if (prompt == 0) {
    throw std::invalid_argument("inference: the prompt is empty");
  }
  if (generated == 0) {
    throw std::invalid_argument("inference: at least one token must be generated");
  }
  if (prompt > model.shape.n_positions || generated > model.shape.n_positions - prompt) {
    throw std::invalid_argument("inference: " + std::to_string(prompt) + " prompt tokens and " +
                                std::to_string(generated) + " generated ones exceed the context of " +
                                std::to_string(model.shape.n_positions));
  }
  return std::bit_ceil(prompt + generated);
}

std::function<void(std::size_t)> count_units(const Progress& progress, std::size_t total) {
  if (!progress) {
    return {};
  }
  return [progress, total, done = std::size_t{0}](std::size_t units) mutable { progress(done += units, total); };
}

}  // namespace

Trace run_inference(const IntegerModel& model, std::span<const std::uint32_t> prompt, std::size_t generate,
                    std::uint32_t filler, Communicator& comm, const Progress& progress) {
  const std::size_t padded = padded_tokens(model, prompt.size(), generate);
  IntegerTransformer transformer(model, padded, Record::trace, generate, comm,
                                 count_units(progress, padded * model.shape.n_layer));
  transformer.append(prompt);
  std::uint32_t token = transformer.select(transformer.length() - 1, 0);
  for (std::size_t g = 1; g < generate; ++g) {
    transformer.append({&token, 1});
    token = transformer.select(transformer.length() - 1, g);
  }
  // nothing waits for the last token's row: it runs with the filler
  std::vector<std::uint32_t> rest(padded - transformer.length(), filler);
  rest.front() = token;
  transformer.append(rest);
  Trace trace = transformer.take_trace();
  trace.prompt_length = prompt.size();
  return trace;
}

Trace run_one_pass(const IntegerModel& model, std::span<const std::uint32_t> prompt,
                   std::span<const std::uint32_t> generated, std::uint32_t filler, Communicator& comm,
                   const Progress& progress) {
  const std::size_t padded = padded_tokens(model, prompt.size(), generated.size());
  IntegerTransformer transformer(model, padded, Record::trace, generated.size(), comm,
                                 count_units(progress, padded * model.shape.n_layer));
  std::vector<std::uint32_t> tokens(prompt.begin(), prompt.end());
  tokens.insert(tokens.end(), generated.begin(), generated.end());
  tokens.resize(padded, filler);
  transformer.append(tokens);
  for (std::size_t g = 0; g < generated.size(); ++g) {
    transformer.select(prompt.size() + g - 1, g);
  }
  Trace trace = transformer.take_trace();
  trace.prompt_length = prompt.size();
  return trace;
}

}  // namespace tessera
