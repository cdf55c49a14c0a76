// Runs the integer model over prompts that nobody calibrated for, with the filler that a proof pads them with, and says
// of which values leave their range: infer_prompts MODEL PROMPTS GENERATE [FIRST [COUNT]]. PROMPTS: a line each, a JSON
// string (encoded as a prompt) or an array of token ids. A line for each such prompt: its number, how many values are
// clamped, its ids. Exit code 1 if a prompt has more of them than a proof may list.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "archive/model_file.hpp"
#include "architecture/inference.hpp"
#include "base/errors.hpp"
#include "cluster/thread_communicator.hpp"
#include "integer_model/integer_model.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

using Ids = std::vector<std::uint32_t>;

/// How many values of the model's run are clamped, by tensor; empty: none. Throws RangeError beyond the key's limit.
std::string clamped(const tessera::IntegerModel& model, const Ids& prompt, std::size_t generated) {
  tessera::SelfCommunicator self;
  const auto plan = tessera::ModelPlan::of(model.key, prompt.size(), generated);
  const auto counts = tessera::counts_of(tessera::run_inference(model, plan, prompt, self).exceptions);
  return tessera::total(counts) == 0 ? std::string() : tessera::exceptions_text(plan, counts);
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: infer_prompts MODEL PROMPTS GENERATE [FIRST [COUNT]]\n";
    return 2;
  }
  const tessera::Model model = tessera::load_model(argv[1]);
  const tessera::IntegerModel integers = tessera::integer_model(model);
  const tessera::Tokenizer tokenizer(model.tokenizer);
  std::ifstream file(argv[2]);
  const std::size_t generated = std::stoul(argv[3]);
  const std::size_t first = argc > 4 ? std::stoul(argv[4]) : 0;
  const std::size_t count = argc > 5 ? std::stoul(argv[5]) : 1'000'000;
  std::size_t number = 0, prompts = 0, tokens = 0, exceptional = 0, failed = 0;
  for (std::string line; std::getline(file, line); ++number) {
    if (number < first || number >= first + count) {
      continue;
    }
    const nlohmann::json prompt = nlohmann::json::parse(line);
    const Ids ids = prompt.is_string() ? tokenizer.encode_prompt(prompt.get<std::string>()) : prompt.get<Ids>();
    ++prompts;
    tokens += ids.size();
    try {
      const std::string found = clamped(integers, ids, generated);
      if (!found.empty()) {
        ++exceptional;
        std::cout << "line " << number + 1 << ", clamped " << found << ", ids " << nlohmann::json(ids) << std::endl;
      }
    } catch (const tessera::RangeError& error) {
      ++failed;
      std::cout << "line " << number + 1 << ": " << error.what() << std::endl;
    }
  }
  std::cout << prompts << " prompts, " << tokens << " tokens, " << exceptional << " with values clamped, " << failed
            << " without a proof\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "infer_prompts: " << error.what() << '\n';
    return 2;
  }
}
