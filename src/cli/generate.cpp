#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "archive/hdf5.hpp"
#include "files/staged_file.hpp"
#include "arithmetic/range_guard.hpp"
#include "base/heap.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/attempt.hpp"
#include "cli/command.hpp"
#include "cli/generate_requests.hpp"
#include "cli/growing_text.hpp"
#include "api/prover_model.hpp"
#include "cli/verify_chat.hpp"
#include "cluster/agreement.hpp"
#include "cluster/serialization.hpp"
#include "integer_model/integer_model.hpp"
#include "plan/ends.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {
namespace {

/// A text that grows, on standard output. On a terminal whatever does not show has a mark, but for new lines.
class Stream {
 public:
  explicit Stream(const TokenizerData& tokenizer) : text_(tokenizer), marks_(::isatty(STDOUT_FILENO) == 1) {}

  void show(std::span<const std::uint32_t> ids, bool whole) {
    const std::string now = text_.more(ids, whole);
    for (std::size_t from = 0; marks_ && from < now.size();) {
      const std::size_t end = std::min(now.find('\n', from), now.size());
      std::fputs(one_line(std::string_view(now).substr(from, end - from)).c_str(), stdout);
      std::fputs(end < now.size() ? "\n" : "", stdout);
      from = end + 1;
    }
    if (!marks_) {
      std::fwrite(now.data(), 1, now.size(), stdout);
    }
    std::fflush(stdout);
  }

 private:
  GrowingText text_;
  bool marks_;
};

std::vector<std::uint32_t> prompt_of(const GenerateCommand& options, const Model& model, Communicator& comm) {
  std::vector<std::uint32_t> prompt = options.tokens;
  fail_together(comm, [&] {
    if (options.prompt && comm.rank() == 0) {
      prompt = Tokenizer(model.tokenizer).encode_prompt(*options.prompt);
    } else if (!options.messages.empty() && comm.rank() == 0) {
      prompt = ids_of_messages(Tokenizer(model.tokenizer), options.messages, {});
    }
  });
  broadcast_object(comm, prompt);
  return prompt;
}

std::string text_of_ids(std::span<const std::uint32_t> ids) {
  std::string text;
  for (const std::uint32_t id : ids) {
    text.append(text.empty() ? "" : ",").append(std::to_string(id));
  }
  return text.append("\n");
}

/// When the first tokens were there, and how fast the others came.
class Pace {
 public:
  void chosen(std::size_t tokens) {
    if (first_ == 0) {
      first_ = tokens;
      seconds_to_first_ = seconds();
    }
    tokens_ = tokens;
  }
  [[nodiscard]] std::string text() const {
    char line[96];
    std::snprintf(line, sizeof line, "the first after %.2f s", seconds_to_first_);
    const double rest = seconds() - seconds_to_first_;
    if (tokens_ == first_ || rest <= 0) {
      return line;
    }
    const std::string first = line;
    std::snprintf(line, sizeof line, ", then %.1f a second", static_cast<double>(tokens_ - first_) / rest);
    return first + line;
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t first_ = 0, tokens_ = 0;
  double seconds_to_first_ = 0;
};

}  // namespace

void run(const GenerateCommand& options, Context& context) {
  MpiCommunicator& comm = context.comm;
  keep_freed_heap();
  SamplingOptions sampling = options.sampling;
  if (draw_seed(sampling, comm) && comm.rank() == 0) {  // standard output is the text
    std::fprintf(stderr, "seed %s\n", sampling.seed.c_str());
  }
  context.progress.begin("reading model");
  ProverModel loaded(options.model, comm, true);
  require_agreement(comm, options.model, ReadFile(options.model).digest());
  if (options.requests) {
    context.progress.finish();
    answer_requests(loaded, options.model, comm);
    return;
  }
  const std::vector<std::uint32_t> prompt = prompt_of(options, loaded.model(), comm);
  check_prompt(prompt, 0, options.generate, loaded.model().shape);
  const PassShape pass{.prompt = prompt.size(), .generated = options.generate, .sampling = sampling_of(sampling)};
  loaded.divide(pass.division(comm.size()));
  const Model& model = loaded.model();
  const IntegerModel integers = integer_model(model);
  const ModelPlan plan = ModelPlan::of(integers.key, pass, pass.division(comm.size()));
  context.progress.finish();
  Stream stream(model.tokenizer);
  Generation generation;
  Pace pace;
  if (comm.rank() == 0) {
    generation.chosen = [&](std::span<const std::uint32_t> ids) {
      pace.chosen(ids.size());
      stream.show(ids, false);
    };
  }
  const auto ends = [&model](std::uint32_t id) { return is_end(model.tokenizer, id); };
  std::vector<std::uint32_t> ids;
  try {
    ids = generate(integers, plan, prompt, comm, {}, generation,
                   options.until_end ? std::function<bool(std::uint32_t)>(ends) : nullptr);
  } catch (const RangeError& error) {
    throw JobError(error.what());
  }
  if (comm.rank() != 0) {
    return;
  }
  const std::string rate = pace.text();
  stream.show(ids, true);
  std::puts("");
  if (!options.ids.empty()) {
    const std::string text = text_of_ids(ids);
    write_file(options.ids, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  context.progress.note(counted(ids.size(), "token") + " after " + counted(prompt.size(), "token") + ": " + rate +
                        ", " + completeness_text(model.tokenizer, ids));
}

}  // namespace tessera::cli
