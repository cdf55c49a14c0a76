#include <algorithm>

#include "layers/logits/logits.hpp"

namespace tessera {
namespace {

/// beta(point, index) for many indices, a product each.
class IndexWeights {
 public:
  explicit IndexWeights(const Point& point)
      : low_bits_(point.size() / 2),
        high_(eq_table(std::span(point).first(point.size() - low_bits_))),
        low_(eq_table(std::span(point).last(low_bits_))) {}
  [[nodiscard]] E operator()(std::size_t index) const {
    return high_[index >> low_bits_] * low_[index & (low_.size() - 1)];
  }

 private:
  std::size_t low_bits_;
  std::vector<E> high_, low_;
};

}  // namespace

SampledWeights::SampledWeights(const SampledPlan& plan, const Candidates& candidates, std::size_t position,
                               const Point& c, const Point& g)
    : plan_(plan), candidates_(candidates), position_(position), c_(eq_table(c)), g_(eq_table(g)) {}

SampledWeights::Boundary SampledWeights::boundary(const TensorPoint& at, std::size_t vocabulary) const {
  const IndexWeights token(at[0]);
  const std::vector<E> rows = eq_table(at[1]);
  const E all = less_than(at[0], vocabulary);
  Boundary result{nothing(), {}};
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    const std::span<const std::uint32_t> ids = candidates_.of(g);
    const std::uint32_t last = ids.back();
    E listed, below;
    for (std::size_t j = 0; j < ids.size(); ++j) {
      const E weight = token(ids[j]);
      listed += weight;
      below += ids[j] < last ? weight : E::zero();
      result.weight[plan_.place(j, g)] = rows[g] * weight;
    }
    result.weight[plan_.place(ids.size() - 1, g)] += rows[g] * (all - listed);
    result.constant += rows[g] * (less_than(at[0], last) - below);
  }
  return result;
}

std::vector<E> SampledWeights::order() const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    for (std::size_t j = 0; j + 1 < plan_.top_k(); ++j) {
      weight[plan_.place(j, g)] += at(j, g);
      weight[plan_.place(j + 1, g)] -= at(j, g);
    }
  }
  return weight;
}

std::vector<E> SampledWeights::distance() const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    for (std::size_t j = 0; j < candidates_.within[g]; ++j) {
      weight[plan_.place(0, g)] += at(j, g);
      weight[plan_.place(j, g)] -= at(j, g);
    }
  }
  return weight;
}

std::vector<E> SampledWeights::near() const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    weight[plan_.place(0, g)] -= g_[g];
    weight[plan_.place(candidates_.within[g] - 1, g)] += g_[g];
  }
  return weight;
}

std::vector<E> SampledWeights::far() const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    if (candidates_.within[g] < plan_.top_k()) {
      weight[plan_.place(0, g)] += g_[g];
      weight[plan_.place(candidates_.within[g], g)] -= g_[g];
    }
  }
  return weight;
}

void SampledWeights::add(std::vector<E>& weight, std::size_t row, std::size_t count, F factor) const {
  const E term = g_[row] * factor;
  for (std::size_t j = 0; j < count; ++j) {
    weight[plan_.place(j, row)] += term;
  }
}

std::vector<E> SampledWeights::top_low() const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    add(weight, g, candidates_.within[g], F::from_canonical(plan_.sampling.top_p));
    add(weight, g, candidates_.kept[g] - 1, -two_to_the(16));
  }
  return weight;
}

std::vector<E> SampledWeights::top_high() const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    add(weight, g, candidates_.within[g], -F::from_canonical(plan_.sampling.top_p));
    add(weight, g, candidates_.kept[g], two_to_the(16));
  }
  return weight;
}

std::vector<E> SampledWeights::limb(std::size_t i) const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    add(weight, g, candidates_.kept[g], F::from_canonical(limbs_of(uniform_at(plan_.sampling.seed, position_ + g))[i]));
  }
  return weight;
}

std::vector<E> SampledWeights::up_to(bool with_token) const {
  std::vector<E> weight = nothing();
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    add(weight, g, candidates_.chosen[g] + (with_token ? 1 : 0), F::from_canonical(1));
  }
  return weight;
}

SampledWeights::Constants SampledWeights::constants() const {
  Constants sums{{}, {}, {}, E::one()};
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    const std::span<const std::uint32_t> ids = candidates_.of(g);
    sums.rows += g_[g];
    sums.cut_rows += candidates_.within[g] < plan_.top_k() ? g_[g] : E::zero();
    for (std::size_t j = 0; j + 1 < ids.size(); ++j) {
      sums.descents += ids[j] >= ids[j + 1] ? at(j, g) : E::zero();
    }
    for (std::size_t j = 0; j < candidates_.within[g]; ++j) {
      sums.without -= at(j, g);
    }
  }
  return sums;
}

std::vector<E> SampledWeights::of_candidates() const {
  std::vector<E> weights;
  for (std::size_t g = 0; g < candidates_.rows(); ++g) {
    for (std::size_t j = 0; j < plan_.top_k(); ++j) {
      weights.push_back(at(j, g));
    }
  }
  return weights;
}

std::vector<Factor> SampledWeights::embedding_rows(unsigned bits, const Point& row, Point feature) const {
  const std::vector<E> rows = eq_table(row);
  std::vector<E> weights = of_candidates();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] *= rows[i / plan_.top_k()];
  }
  return token_rows(bits, candidates_.ids, weights, std::move(feature));
}

}  // namespace tessera
