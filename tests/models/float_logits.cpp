// Compares the float model of a folder with what the reference implementation computes in float64 (families.py truth):
// float_logits FOLDER. Prints the largest differences over all prompts and positions, of logits relative to the
// position's largest one, of logarithms of sums of exponentials relative to themselves. Exit code 1 beyond 1e-9.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/errors.hpp"
#include "checkpoints/checkpoint.hpp"
#include "float_model/float_model.hpp"

namespace {

constexpr double limit = 1e-9;

struct Differences {
  double logits = 0, logsumexp = 0;
};

/// Of one position: `found` and `expected` logits, and the expected logarithm of the sum of their exponentials.
void compare(std::span<const double> found, std::span<const double> expected, double logsumexp, Differences& worst) {
  double largest = 0, difference = 0, sum = 0;
  const double top = std::ranges::max(found);
  for (std::size_t token = 0; token < found.size(); ++token) {
    largest = std::max(largest, std::abs(expected[token]));
    difference = std::max(difference, std::abs(found[token] - expected[token]));
    sum += std::exp(found[token] - top);
  }
  const auto take = [](double& into, double value) { into = value <= into ? into : value; };  // not-a-numbers, too
  take(worst.logits, difference / largest);
  take(worst.logsumexp, std::abs(top + std::log(sum) - logsumexp) / std::abs(logsumexp));
}

int run(const std::filesystem::path& folder) {
  const nlohmann::json truth = nlohmann::json::parse(std::ifstream(folder / "truth.json"));
  std::ifstream file(folder / "logits.f64", std::ios::binary);
  const tessera::FloatTransformer model(tessera::load_checkpoint(folder, {}));
  const std::size_t vocabulary = model.shape().n_vocab;
  if (truth.at("vocabulary") != vocabulary) {
    throw tessera::InputError("truth.json: expected a vocabulary of " + std::to_string(vocabulary));
  }
  Differences worst;
  std::size_t positions = 0;
  for (const nlohmann::json& prompt : truth.at("prompts")) {
    const auto ids = prompt.at("ids").get<std::vector<std::uint32_t>>();
    tessera::KeyValueCache cache(model.shape(), ids.size());
    const std::vector<double> found = model.logits(model.extend({&cache, 1}, ids));
    std::vector<double> expected(found.size());
    const auto bytes = static_cast<std::streamsize>(expected.size() * sizeof(double));
    if (!file.read(reinterpret_cast<char*>(expected.data()), bytes)) {
      throw tessera::InputError("logits.f64: too short");
    }
    for (std::size_t place = 0; place < ids.size(); ++place, ++positions) {
      compare(std::span(found).subspan(place * vocabulary, vocabulary),
              std::span(expected).subspan(place * vocabulary, vocabulary), prompt.at("logsumexp").at(place), worst);
    }
  }
  std::printf("logits %.1e, logsumexp %.1e, %zu positions\n", worst.logits, worst.logsumexp, positions);
  return positions > 0 && worst.logits <= limit && worst.logsumexp <= limit ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: float_logits FOLDER\n";
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "float_logits: " << error.what() << '\n';
    return 2;
  }
}
