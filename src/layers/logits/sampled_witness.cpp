#include <algorithm>
#include <memory>
#include <numeric>

#include "layers/logits/logits.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// The sums of the first 0, 1, ... values.
std::vector<std::int64_t> sums_of(const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> sums(values.size() + 1);
  std::partial_sum(values.begin(), values.end(), sums.begin() + 1);
  return sums;
}

/// What the checks of one row are about, apart from its candidates.
void derive_hits(Witness& witness, const SampledPlan& plan, std::size_t g, const Choice& choice) {
  const auto set = [&](const Derived& tensor, std::int64_t value) { witness[tensor].values()[g] = value; };
  const std::int64_t cutoff = plan.sampling.cutoff;
  const std::int64_t top_p = plan.sampling.top_p;
  const std::vector<std::int64_t> sums = sums_of(choice.weights);
  const auto distance = [&](std::size_t j) { return choice.scores.front() - choice.scores[j]; };
  set(plan.near, cutoff - distance(choice.within - 1));
  set(plan.far, choice.within < plan.top_k() ? distance(choice.within) - cutoff - 1 : 0);
  set(plan.top_low, top_p * sums[choice.within] - (sums[choice.kept - 1] << 16) - 1);
  set(plan.top_high, (sums[choice.kept] << 16) - top_p * sums[choice.within]);
  const UniformHit hit = hit_of(choice.limbs, sums[choice.kept]);
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    set(plan.limb_remainder[i], hit.remainder[i]);
    set(plan.quotient[i], hit.quotient[i]);
  }
  set(plan.low, hit.value() - sums[choice.chosen]);
  set(plan.high, sums[choice.chosen + 1] - 1 - hit.value());
}

/// How far the tokens that are no candidates lie behind the last one that is.
void set_difference(Witness& witness, const LogitsPlan& plan) {
  const ChunkedTensor<std::int64_t>& logits = witness[plan.values];
  const Dimension& vocabulary = plan.logits.dimensions()[0];
  const auto candidates = std::make_shared<const Candidates>(witness.candidates);
  std::vector<std::int64_t> last;  // logits of the last candidates
  for (std::size_t g = 0; g < candidates->rows(); ++g) {
    last.push_back(witness[static_cast<const Recorded<std::int64_t>&>(plan.sampled->logit)]
                       .values()[plan.sampled->place(candidates->top_k - 1, g)]);
  }
  const auto difference = [&logits, shape = plan.logits, vocabulary, candidates, last](std::size_t chunk,
                                                                                       std::span<std::int64_t> values) {
    const std::size_t first = shape.coordinate(chunk, 0) << vocabulary.log_chunk;
    const std::size_t g = shape.coordinate(chunk, 1);  // one a chunk
    const auto logit = logits.chunk(chunk);
    const std::uint32_t bound = candidates->of(g).back();
    for (std::size_t x = 0; x < values.size(); ++x) {
      const std::size_t token = first + x;
      values[x] = token < vocabulary.length ? last[g] - logit[x] - (token < bound ? 1 : 0) : 0;
    }
    for (const std::uint32_t id : candidates->of(g)) {
      if (id >= first && id < first + values.size()) {
        values[id - first] = 0;
      }
    }
  };
  witness.set_range(plan.difference, logits.ownership(), difference);
}

}  // namespace

void derive_sampled(Witness& witness, const LogitsPlan& logits, const Statement& statement) {
  const SampledPlan& plan = *logits.sampled;
  const auto& ids = witness[plan.ids].values();
  const auto& logit = witness[static_cast<const Recorded<std::int64_t>&>(plan.logit)].values();
  const std::size_t position = plan.past + prompt_rows(statement).size();
  std::vector<Choice> choices;
  for (std::size_t g = 0; g < statement.generated.size(); ++g) {
    std::vector<std::int64_t> values;
    std::size_t place = plan.top_k();
    for (std::size_t j = plan.top_k(); j-- > 0;) {
      values.insert(values.begin(), logit[plan.place(j, g)]);
      place = static_cast<std::uint32_t>(ids[plan.place(j, g)]) == statement.generated[g] ? j : place;
    }
    Choice& choice = choices.emplace_back(choose(values, plan.sampling, plan.widths.shift, position + g));
    choice.chosen = std::min(place, plan.top_k() - 1);  // what is stated, true or not
  }
  set_choices(witness, logits, choices);
}

void set_choices(Witness& witness, const LogitsPlan& logits, const std::vector<Choice>& choices) {
  const SampledPlan& plan = *logits.sampled;
  const auto& ids = witness[plan.ids].values();
  const auto& logit = witness[static_cast<const Recorded<std::int64_t>&>(plan.logit)].values();
  const std::size_t k = plan.top_k();
  const int shift = plan.widths.shift;
  Candidates& candidates = witness.candidates;
  candidates = {k, {}, {}, {}, {}};
  std::vector<std::int64_t> distances(plan.candidates.chunk_size(), far_distance);
  std::ranges::fill(witness[plan.remainder].values(), std::int64_t{1} << (shift - 1));
  for (std::size_t g = 0; g < choices.size(); ++g) {
    const Choice& choice = choices[g];
    candidates.within.push_back(static_cast<std::uint32_t>(choice.within));
    candidates.kept.push_back(static_cast<std::uint32_t>(choice.kept));
    candidates.chosen.push_back(static_cast<std::uint32_t>(choice.chosen));
    for (std::size_t j = 0; j < k; ++j) {
      const std::size_t at = plan.place(j, g);
      candidates.ids.push_back(static_cast<std::uint32_t>(ids[at]));
      witness[plan.score].values()[at] = choice.scores[j];
      witness[plan.remainder].values()[at] = logit[at] * plan.sampling.inverse_temperature +
                                             (std::int64_t{1} << (shift - 1)) - (choice.scores[j] << shift);
      witness[plan.weight].values()[at] = choice.weights[j];
      distances[at] = j < choice.within ? choice.scores[0] - choice.scores[j] : far_distance;
      if (j + 1 < k) {
        const std::size_t next = plan.place(j + 1, g);
        witness[plan.order].values()[at] = logit[at] - logit[next] - (ids[at] >= ids[next] ? 1 : 0);
      }
    }
    derive_hits(witness, plan, g, choice);
  }
  witness.set_input(plan.weight, [distances](std::size_t /*chunk*/, std::span<std::int64_t> values) {
    std::ranges::copy(distances, values.begin());
  });
  set_difference(witness, logits);
}

}  // namespace tessera
