#include "architecture/inference.hpp"

#include <algorithm>

#include "architecture/draft.hpp"

namespace tessera {
namespace {

std::function<void(std::size_t)> count_units(const Progress& progress, const ModelPlan& plan) {
  if (!progress) {
    return {};
  }
  return [progress, total = plan.rows * plan.model.n_layer, furthest = std::size_t{0}](std::size_t done) mutable {
    furthest = std::max(furthest, done);  // rows of wrong guesses are run again
    progress(furthest, total);
  };
}

/// Runs `token` and guesses of what comes after it, and returns what is chosen after `token` and after each guess that
/// was right. Rows of wrong guesses are forgotten.
std::vector<std::uint32_t> choose(IntegerTransformer& transformer, std::uint32_t token,
                                  std::vector<std::uint32_t> guesses, std::size_t generation) {
  const std::size_t before = transformer.length();
  std::vector<std::uint32_t> rows{token};
  rows.insert(rows.end(), guesses.begin(), guesses.end());
  try {
    transformer.append(rows);
  } catch (const RangeError&) {
    if (guesses.empty()) {
      throw;
    }
    // on all ranks; perhaps only a row that nobody asked for
    transformer.forget(before);
    return choose(transformer, token, {}, generation);
  }
  std::vector<std::uint32_t> ids = transformer.select({before, before + rows.size()}, generation);
  const auto wrong = std::ranges::mismatch(guesses, ids).in1;
  ids.resize(static_cast<std::size_t>(wrong - guesses.begin()) + 1);
  transformer.forget(before + ids.size());
  return ids;
}

/// Adds to `ids`, which follow `prompt` and of which the last has no row yet, what the model chooses, until there are
/// `most` of them or `ends` says so of one.
void go_on(IntegerTransformer& transformer, std::span<const std::uint32_t> prompt, std::vector<std::uint32_t>& ids,
           std::size_t most, const Generation& generation, const std::function<bool(std::uint32_t)>& ends) {
  Draft draft;
  std::vector<std::uint32_t> all(prompt.begin(), prompt.end());
  all.insert(all.end(), ids.begin(), ids.end());
  while (ids.size() < most && !(ends && ends(ids.back()))) {
    const std::size_t room = most - ids.size() - 1;
    std::vector<std::uint32_t> guesses = generation.guess ? generation.guess(all, room) : draft.next(all, room);
    const std::size_t guessed = guesses.size();
    std::vector<std::uint32_t> next = choose(transformer, ids.back(), std::move(guesses), ids.size());
    draft.learn(guessed, next.size() - 1);
    if (ends) {
      const auto end = std::ranges::find_if(next, ends);
      next.erase(end == next.end() ? end : end + 1, next.end());
    }
    ids.insert(ids.end(), next.begin(), next.end());
    all.insert(all.end(), next.begin(), next.end());
    if (generation.chosen) {
      generation.chosen(ids);
    }
  }
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
  if (ids.empty()) {
    ids = transformer.select({prompt.size() - 1, prompt.size()}, 0);
    if (generation.chosen) {
      generation.chosen(ids);
    }
  }
  go_on(transformer, prompt, ids, plan.generated, generation, {});
  // nothing waits for the last token's row, if it has one: it runs with the filler
  std::vector<std::uint32_t> rest(plan.rows - transformer.length(), plan.filler);
  if (transformer.length() < plan.tokens) {
    rest.front() = ids.back();
  }
  transformer.append(rest);
  Trace trace = transformer.take_trace();
  trace.last_token = ids.back();
  return trace;
}

std::vector<std::uint32_t> generate(const IntegerModel& model, const ModelPlan& plan,
                                    std::span<const std::uint32_t> prompt, Communicator& comm, const PastState& past,
                                    const Generation& generation, const std::function<bool(std::uint32_t)>& ends) {
  IntegerTransformer transformer(model, plan, Record::nothing, comm, {}, past);
  transformer.append(prompt);
  std::vector<std::uint32_t> ids = transformer.select({prompt.size() - 1, prompt.size()}, 0);
  if (generation.chosen) {
    generation.chosen(ids);
  }
  go_on(transformer, prompt, ids, plan.generated, generation, ends);
  return ids;
}

Trace run_one_pass(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                   std::span<const std::uint32_t> generated, Communicator& comm, const Progress& progress,
                   const PastState& past) {
  IntegerTransformer transformer(model, plan, Record::trace, comm, count_units(progress, plan), past);
  std::vector<std::uint32_t> tokens(prompt.begin(), prompt.end());
  tokens.insert(tokens.end(), generated.begin(), generated.end());
  tokens.resize(plan.tokens);
  tokens.resize(plan.rows, plan.filler);
  transformer.append(tokens);
  transformer.select({prompt.size() - 1, prompt.size() - 1 + generated.size()}, 0);
  Trace trace = transformer.take_trace();
  trace.last_token = generated.back();
  return trace;
}

}  // namespace tessera
