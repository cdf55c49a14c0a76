#include <algorithm>

#include "layers/logits/logits.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// Distances that are no row of the table of weights are cut to one that counts nothing, and the rest is the excess.
struct Distance {
  std::int64_t looked_up = far_distance, excess = 0;
  Distance() = default;
  explicit Distance(std::int64_t distance)
      : looked_up(std::min(distance, far_distance)), excess(distance - looked_up) {}
};

/// The logits of a chunk of (V,G), which has one row g.
struct LogitChunk {
  LogitChunk(const Witness& witness, const LogitsPlan& logits, std::size_t chunk)
      : plan(*logits.dense),
        first(logits.logits.coordinate(chunk, 0) << logits.logits.dimensions()[0].log_chunk),
        row(logits.logits.coordinate(chunk, 1)),
        count(std::min(witness[logits.values].chunk(chunk).size(), logits.n_vocab - std::min(logits.n_vocab, first))),
        values(witness[logits.values].chunk(chunk)) {}
  [[nodiscard]] std::int64_t score(std::size_t x) const {
    return score_of(values[x], plan.sampling, plan.widths.shift);
  }

  const DensePlan& plan;
  std::size_t first, row, count;  // tokens from `first` on
  std::span<const std::int64_t> values;
};

/// The largest score of each row. Collective.
std::vector<std::int64_t> maxima_of(const Witness& witness, const LogitsPlan& logits, std::size_t rows,
                                    Communicator& comm) {
  std::vector<std::int64_t> maxima(rows, INT64_MIN);
  for (const std::size_t number : witness[logits.values].held()) {
    const LogitChunk chunk(witness, logits, number);
    for (std::size_t x = 0; x < chunk.count; ++x) {
      maxima[chunk.row] = std::max(maxima[chunk.row], chunk.score(x));
    }
  }
  comm.all_reduce_max(std::span(maxima));
  return maxima;
}

/// Weights and excesses; returns the first token of each row whose score is the maximum, of all ranks. Collective.
std::vector<std::int64_t> set_weights(Witness& witness, const LogitsPlan& logits, std::span<const std::int64_t> maxima,
                                      Communicator& comm) {
  const DensePlan& plan = *logits.dense;
  const std::vector<std::int64_t> weights = weights_within(plan.sampling.cutoff);
  std::vector<std::int64_t> best(maxima.size(), -INT64_MAX);  // negated: the first one wins
  ChunkedTensor<std::int64_t>& weight = witness[plan.weight];
  ChunkedTensor<std::int64_t>& excess = witness[plan.excess];
  for (const std::size_t number : witness[logits.values].held()) {
    const LogitChunk chunk(witness, logits, number);
    for (std::size_t x = 0; x < chunk.count; ++x) {
      const Distance distance(maxima[chunk.row] - chunk.score(x));
      weight.chunk(number)[x] =
          distance.looked_up >= 0 ? weights[static_cast<std::size_t>(distance.looked_up)] : full_weight;
      excess.chunk(number)[x] = distance.excess;
      if (distance.looked_up == 0) {
        best[chunk.row] = std::max(best[chunk.row], -static_cast<std::int64_t>(chunk.first + x));
      }
    }
  }
  comm.all_reduce_max(std::span(best));
  return best;
}

}  // namespace

void set_scores(Witness& witness, const LogitsPlan& logits, std::span<const std::int64_t> maxima, Communicator& comm) {
  const DensePlan& plan = *logits.dense;
  const std::vector<std::int64_t> all(maxima.begin(), maxima.end());
  std::ranges::copy(all, witness[plan.maximum].values().begin());
  const std::vector<std::int64_t> best = set_weights(witness, logits, maxima, comm);
  for (const std::size_t number : witness[logits.values].held()) {
    const LogitChunk chunk(witness, logits, number);
    const auto marks = witness[plan.best_values].chunk(number);
    std::ranges::fill(marks, 0);
    const std::size_t id = static_cast<std::size_t>(-best[chunk.row]) - chunk.first;
    if (id < chunk.count) {
      marks[id] = 1;
    }
  }
  witness.set_input(plan.weight, [&witness, logits, all](std::size_t number, std::span<std::int64_t> values) {
    const LogitChunk chunk(witness, logits, number);
    std::ranges::fill(values, far_distance);
    for (std::size_t x = 0; x < chunk.count; ++x) {
      values[x] = Distance(all[chunk.row] - chunk.score(x)).looked_up;
    }
  });
  const auto remainder = [&witness, logits](std::size_t number, std::span<std::int64_t> values) {
    const LogitChunk chunk(witness, logits, number);
    const std::int64_t half = std::int64_t{1} << (chunk.plan.widths.shift - 1);
    std::ranges::fill(values, half);
    for (std::size_t x = 0; x < chunk.count; ++x) {
      values[x] = chunk.values[x] * chunk.plan.sampling.inverse_temperature + half -
                  (chunk.score(x) << chunk.plan.widths.shift);
    }
  };
  witness.set_range(plan.remainder, witness[logits.values].ownership(), remainder);
}

std::vector<DenseChoice> sums_of(const Witness& witness, const LogitsPlan& logits, const Statement& statement,
                                 Communicator& comm) {
  const std::vector<std::uint32_t>& tokens = statement.generated;
  std::vector<std::int64_t> sums(3 * tokens.size());  // (Z, P(t), w(t)) by row
  for (const std::size_t number : witness[logits.values].held()) {
    const LogitChunk chunk(witness, logits, number);
    const auto weight = witness[logits.dense->weight].chunk(number);
    for (std::size_t x = 0; x < chunk.count; ++x) {
      sums[3 * chunk.row] += weight[x];
      sums[3 * chunk.row + 1] += chunk.first + x < tokens[chunk.row] ? weight[x] : 0;
      sums[3 * chunk.row + 2] += chunk.first + x == tokens[chunk.row] ? weight[x] : 0;
    }
  }
  comm.all_reduce_sum(std::span(sums));
  std::vector<DenseChoice> choices;
  for (std::size_t g = 0; g < tokens.size(); ++g) {
    choices.push_back({sums[3 * g], sums[3 * g + 1], sums[3 * g + 2]});
  }
  return choices;
}

void set_hits(Witness& witness, const DensePlan& plan, std::span<const DenseChoice> choices, std::size_t position) {
  for (std::size_t g = 0; g < choices.size(); ++g) {
    const DenseChoice& choice = choices[g];
    const UniformHit hit = hit_of(limbs_of(uniform_at(plan.sampling.seed, position + g)), choice.sum);
    witness[plan.sums].values()[g] = choice.sum;
    for (std::size_t i = 0; i < uniform_limbs; ++i) {
      witness[plan.quotient[i]].values()[g] = hit.quotient[i];
      witness[plan.limb_remainder[i]].values()[g] = hit.remainder[i];
    }
    witness[plan.low].values()[g] = hit.value() - choice.before;
    witness[plan.high].values()[g] = choice.before + choice.own - 1 - hit.value();
  }
}

void derive_dense(Witness& witness, const LogitsPlan& logits, const Statement& statement, Communicator& comm) {
  set_scores(witness, logits, maxima_of(witness, logits, statement.generated.size(), comm), comm);
  set_hits(witness, *logits.dense, sums_of(witness, logits, statement, comm),
           logits.dense->past + prompt_rows(statement).size());
}

}  // namespace tessera
