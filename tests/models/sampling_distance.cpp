// How far sampling in integers is from sampling in reals: sampling_distance MODEL CHECKPOINT TEXT [TOKENS]. For each
// rule and each place of the text the total variation distance between the integer weights and (arithmetic) the
// exponentials in double precision of the same integer logits, (model) those of the float model. A line a rule: means
// and largest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>

#include "archive/model_file.hpp"
#include "architecture/inference.hpp"
#include "base/errors.hpp"
#include "cluster/thread_communicator.hpp"
#include "checkpoints/checkpoint.hpp"
#include "float_model/float_model.hpp"
#include "integer_model/integer_model.hpp"
#include "tokenizer/tokenizer.hpp"

#include <tessera/sampling.hpp>

namespace {

using namespace tessera;
using Distribution = std::map<std::size_t, double>;

/// The best `top_k` ids of a row, best first; all of them if that is 0.
template <class Number>
std::vector<std::size_t> best_of(std::span<const Number> row, std::size_t top_k) {
  const std::size_t k = top_k == 0 ? row.size() : top_k;
  std::vector<std::size_t> ids(row.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  const auto better = [&](std::size_t a, std::size_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids.end(), better);
  ids.resize(k);
  return ids;
}

/// In reals, by the same order of rules.
template <class Number>
Distribution in_reals(std::span<const Number> row, double scale, const SamplingParameters& parameters) {
  const std::vector<std::size_t> ids = best_of(row, parameters.top_k);
  std::vector<double> weights;
  for (const std::size_t id : ids) {
    const double weight =
        std::exp((static_cast<double>(row[id]) - static_cast<double>(row[ids[0]])) * scale / parameters.temperature);
    weights.push_back(weight >= parameters.min_p ? weight : 0);
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  Distribution result;
  double kept = 0;
  for (std::size_t j = 0; j < ids.size() && kept < parameters.top_p * all; ++j) {
    kept += result[ids[j]] = weights[j];
  }
  for (auto& [id, weight] : result) {
    weight /= kept;
  }
  return result;
}

Distribution in_integers(std::span<const std::int64_t> row, const Sampling& sampling, int shift) {
  const std::vector<std::size_t> ids = best_of(row, sampling.top_k);
  std::vector<std::int64_t> logits;
  for (const std::size_t id : ids) {
    logits.push_back(row[id]);
  }
  const Choice choice = choose(logits, sampling, shift, 0);
  const auto first = choice.weights.begin();
  const auto sum =
      static_cast<double>(std::accumulate(first, first + static_cast<std::ptrdiff_t>(choice.kept), std::int64_t{0}));
  Distribution result;
  for (std::size_t j = 0; j < choice.kept; ++j) {
    result[ids[j]] = static_cast<double>(choice.weights[j]) / sum;
  }
  return result;
}

double distance(const Distribution& a, const Distribution& b) {
  double sum = 0;
  for (const auto& [id, probability] : a) {
    const auto found = b.find(id);
    sum += std::max(0.0, probability - (found == b.end() ? 0 : found->second));
  }
  return sum;
}

struct Distances {
  double sum = 0, most = 0;
  void add(double value) {
    sum += value;
    most = std::max(most, value);
  }
};

int run(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: sampling_distance MODEL CHECKPOINT TEXT [TOKENS]\n";
    return 2;
  }
  const Model model = load_model(argv[1]);
  const FloatModel original =
      load_checkpoint(argv[2], !model.shape.rotary() ? std::nullopt : std::optional(model.shape.n_positions));
  std::ifstream file(argv[3], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::uint32_t> ids = Tokenizer(model.tokenizer).encode(text);
  const std::size_t wanted = argc > 4 ? std::stoul(argv[4]) : 256;
  ids.resize(std::min({ids.size(), wanted, model.shape.n_positions - 1}));
  SelfCommunicator self;
  const IntegerModel integers = integer_model(model);
  const ModelPlan plan = ModelPlan::of(integers.key, ids.size(), 1, Division::finest(1));
  IntegerTransformer transformer(integers, plan, Record::nothing, self);
  transformer.append(ids);
  const FloatTransformer reals(original);
  KeyValueCache cache(model.shape, ids.size());
  const auto hidden = reals.extend({&cache, 1}, ids);
  const std::vector<SamplingParameters> rules{
      {1, 0, 1, 0},       {0.7, 0, 1, 0},
      {1, 0, 1, 0.05},    {1.5, 0, 1, 0.02},
      {1, 64, 1, 0},      {1, std::min<std::uint32_t>(1024, static_cast<std::uint32_t>(model.shape.n_vocab)), 1, 0},
      {0.7, 40, 0.95, 0}, {0.7, 64, 1, 0.05},
      {1.5, 64, 0.9, 0}};
  const std::size_t d = model.shape.n_embd;
  std::vector<Distances> arithmetic(rules.size()), models(rules.size());
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const RawVector<std::int64_t> row = transformer.logits({t, t + 1});
    const auto real_row = reals.logits(std::span(hidden).subspan(t * d, d));
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const Sampling sampling = make_sampling(rules[r]);
      const int shift = check_sampling(integers.key, sampling, 1).shift;
      const Distribution ours = in_integers(row, sampling, shift);
      arithmetic[r].add(
          distance(ours, in_reals(std::span<const std::int64_t>(row), std::ldexp(1.0, -shift), rules[r])));
      models[r].add(distance(ours, in_reals(std::span(real_row), 1.0, rules[r])));
    }
  }
  const auto n = static_cast<double>(ids.size());
  std::printf("%zu places\n", ids.size());
  for (std::size_t r = 0; r < rules.size(); ++r) {
    std::printf("%-50s arithmetic %.2e, at most %.2e; model %.2e, at most %.2e\n",
                sampling_text(make_sampling(rules[r])).c_str(), arithmetic[r].sum / n, arithmetic[r].most,
                models[r].sum / n, models[r].most);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "sampling_distance: " << error.what() << '\n';
    return 2;
  }
}
