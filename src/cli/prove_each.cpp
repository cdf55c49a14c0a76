#include "cli/prove_each.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"
#include "files/staged_file.hpp"
#include "base/text.hpp"
#include "cli/prove_one.hpp"
#include "cli/token_ids.hpp"
#include "cluster/agreement.hpp"
#include "cluster/serialization.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t most_lines = 999'999;  // in six digits

/// A line of the file, from 1 on, and its token ids.
struct Prompt {
  std::uint32_t line = 0;
  std::vector<std::uint32_t> tokens;

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& line& tokens;
  }
};

std::string output_of(const ProveCommand& options, const Prompt& prompt) {
  char name[16];
  std::snprintf(name, sizeof name, "%06u.h5", prompt.line);
  return (std::filesystem::path(options.out) / name).string();
}

/// Lines that somebody may have meant as ids are texts, which must not go unseen.
void warn_of_numbers(const ProveCommand& options, const std::vector<std::uint32_t>& lines) {
  if (!lines.empty()) {
    const std::size_t others = lines.size() - 1;
    std::cerr << "tessera: warning: " + one_line(options.prompts) + ": line " + std::to_string(lines.front()) +
                     (others > 0 ? " and " + std::to_string(others) + (others == 1 ? " other are" : " others are")
                                 : " is") +
                     " digits and commas, proven as the text that they are: --prompt-ids takes ids\n"
              << std::flush;
  }
}

/// `numbers`: takes the lines of texts that look like ids.
std::vector<Prompt> read_prompts(const ProveCommand& options, const Model& model, std::vector<std::uint32_t>& numbers) {
  const std::string& path = prompts_file(options);
  const bool as_ids = options.prompts.empty();
  const std::string text = read_edited_text_file(path);
  const Tokenizer tokenizer(model.tokenizer);
  std::vector<Prompt> prompts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (end < text.size() && line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (prompts.size() == most_lines) {
      throw InputError(path + ": expected at most " + std::to_string(most_lines) + " lines, found more");
    }
    Prompt prompt{static_cast<std::uint32_t>(prompts.size() + 1), {}};
    try {
      prompt.tokens = as_ids ? ids_of(line) : tokenizer.encode_prompt(line);
      if (!as_ids && looks_like_ids(line)) {
        numbers.push_back(prompt.line);
      }
      check_prompt(prompt.tokens, 0, options.generate, model.shape);
    } catch (const InputError& error) {
      throw InputError(path + ": line " + std::to_string(prompt.line) + ": " + error.what());
    }
    prompts.push_back(std::move(prompt));
    begin = end + 1;
  }
  if (prompts.empty()) {
    throw InputError(path + ": expected at least one line, found none");
  }
  return prompts;
}

/// Leaves out what is proven already.
void keep_proven(const ProveCommand& options, std::vector<Prompt>& prompts) {
  const Digest key = load_key(std::filesystem::path(options.commitment) / "verifying.key").digest();
  std::erase_if(prompts, [&](const Prompt& prompt) {
    const std::string file = output_of(options, prompt);
    if (!std::filesystem::exists(file)) {
      return false;
    }
    const ProofArchive proof = load_proof(file);
    const Statement& found = proof.statement;
    if (proof.key_digest != key || found.prompt != prompt.tokens || found.generated.size() != options.generate ||
        found.pass_length != options.pass_length || found.sampling != sampling_of(options.sampling) || found.start ||
        found.keeps) {
      throw InputError(file + ": expected no file, or a proof of line " + std::to_string(prompt.line) + " of " +
                       prompts_file(options) + " under this key, found another proof");
    }
    std::printf("%s: kept\n", one_line(file).c_str());
    return true;
  });
}

std::vector<Prompt> prompts_to_prove(const ProveCommand& options, const Model& model, Communicator& comm) {
  std::vector<Prompt> prompts;
  if (comm.rank() == 0) {
    std::vector<std::uint32_t> numbers;
    prompts = read_prompts(options, model, numbers);
    std::error_code error;
    std::filesystem::create_directories(through_links(options.out), error);
    if (error) {
      throw InputError(options.out + ": cannot be made a directory: " + error.message());
    }
    keep_proven(options, prompts);
    warn_of_numbers(options, numbers);
  }
  broadcast_object(comm, prompts);
  return prompts;
}

}  // namespace

void prove_each(const ProveCommand& options, Context& context) {
  Communicator& comm = context.comm;
  context.progress.begin("reading model");
  require_agreement(comm, options.model, ReadFile(options.model).digest());
  ProverModel model(options.model, comm, true);
  const std::vector<Prompt> prompts = prompts_to_prove(options, model.model(), comm);
  std::size_t failures = 0;
  for (const Prompt& prompt : prompts) {
    ProveCommand one = options;
    one.tokens = prompt.tokens;
    one.out = output_of(options, prompt);
    context.progress.note("line " + std::to_string(prompt.line) + " of " + one_line(prompts_file(options)));
    try {
      prove_one(one, context, &model);
    } catch (const NotProven& error) {
      ++failures;
      context.progress.finish();
      if (comm.rank() == 0) {
        std::cerr << "tessera: warning: line " + std::to_string(prompt.line) + ": " + error.what() + "\n" << std::flush;
      }
    }
  }
  if (failures > 0) {
    throw JobError(prompts_file(options) + ": expected proofs of " + std::to_string(prompts.size()) +
                   " lines, found that " + std::to_string(failures) + " cannot be proven");
  }
}

}  // namespace tessera::cli
