#include <gtest/gtest.h>

#include <optional>
#include <set>

#include <functional>

#include "fixture.hpp"

namespace tessera::test {
namespace {

using NormRange = DerivedRange LayerNormPlan::*;

struct LayerNormAt {
  std::string scope;
  NormLayer ModelPlan::*plan;
  Stage first;
  std::size_t block;
  [[nodiscard]] Stage stage(int steps) const { return static_cast<Stage>(static_cast<int>(first) + steps); }
  /// Handles in a trace.
  [[nodiscard]] const LayerNormPlan& tensors() const { return layer_norm(odd_plan().*plan); }
  [[nodiscard]] std::size_t place() const { return block * odd_tokens + last_token; }
};

std::vector<LayerNormAt> layer_norms_at() {
  return {{"/self_attention/layer_norm", &ModelPlan::norm_1, Stage::mu1, 1},
          {"/feed_forward/layer_norm", &ModelPlan::norm_2, Stage::mu2, 1},
          {"/final/layer_norm", &ModelPlan::norm_final, Stage::muf, 0}};
}

/// The lie is rejected under the exact plan and accepted if the one range is wide enough for it.
void only_width_catches(const Liar& liar, RangeId range) {
  TestModel& test = odd_model();
  const Proof proof = prove_lie(test, odd_statement(), liar);
  expect_rejected(verify_inference(test.key, odd_statement(), proof.payload), lookup_scope);
  ModelPlan wide = odd_plan();
  widen(wide, range, 1, true);
  const Proof with_wide = prove_lie(test, odd_statement(), liar, &wide);
  expect_accepted(verify_inference(wide, test.key, odd_statement(), with_wide.payload));
}

/// One value of a per-token or per-row tensor off by `by`.
struct LayerNormError {
  std::string name;
  int stage;  // steps after the norm's first stage
  CommittedValue<std::int32_t> LayerNormPlan::*tensor;
  std::int32_t by;
  NormRange range;  // the only one that it leaves
};

const std::vector<LayerNormError> layer_norm_errors{
    {"mu + 1", 0, &LayerNormPlan::mu, 1, &LayerNormPlan::mean_remainder},
    {"mu - 1", 0, &LayerNormPlan::mu, -1, &LayerNormPlan::mean_complement},
    {"sigma + 1", 1, &LayerNormPlan::sigma, 1, &LayerNormPlan::root_remainder},
    {"sigma - 1", 1, &LayerNormPlan::sigma, -1, &LayerNormPlan::root_complement},
    {"inverse + 1", 2, &LayerNormPlan::inverse, 1, &LayerNormPlan::inverse_remainder},
    {"inverse - 1", 2, &LayerNormPlan::inverse, -1, &LayerNormPlan::inverse_complement},
};

/// A token whose mean may be changed by `by` so that only one of its remainder and the complement, 6 bits each, leaves
/// its range.
std::optional<std::size_t> place_of_mean(const LayerNormAt& norm, Trace& trace, std::int64_t by) {
  const auto d = static_cast<std::int64_t>(odd_model().model.shape.n_embd);
  auto& x = trace[norm.tensors().x];
  for (std::size_t t = odd_used - 1; t < odd_tokens; ++t) {
    std::int64_t remainder = d / 2 - d * trace[norm.tensors().mu].values()[norm.block * odd_tokens + t];
    for (std::size_t f = 0; f < odd_model().model.shape.n_embd; ++f) {
      remainder += block_row(x, norm.block, f)[t];
    }
    if ((by < 0 ? remainder : d - 1 - remainder) + d < 64) {
      return norm.block * odd_tokens + t;
    }
  }
  return std::nullopt;
}

TEST(Division, statistics_off_by_one_leave_one_range) {
  Trace honest = odd_trace();
  std::set<std::string> told;
  std::size_t number = 0;
  for (const LayerNormAt& norm : layer_norms_at()) {
    for (const LayerNormError& lie : layer_norm_errors) {
      const std::optional<std::size_t> place =
          lie.stage == 0 ? place_of_mean(norm, honest, lie.by) : std::optional(norm.place());
      if (!place || number++ % each_or_every(5) != 0) {  // of another norm each time
        continue;
      }
      SCOPED_TRACE(norm.scope + " " + lie.name);
      const Liar liar = lie_at(norm.stage(lie.stage), norm.block,
                               [&](Trace& trace) { trace[norm.tensors().*lie.tensor].values()[*place] += lie.by; });
      only_width_catches(liar, norm.tensors().*lie.range);
      told.insert(lie.name);
    }
  }
  EXPECT_GE(told.size(), each_or_every(5) == 1 ? layer_norm_errors.size() : 1);
}

/// A virtual tensor of a layer norm with one value off by one while everything else is honest.
TEST(Division, every_remainder_and_complement_is_bound) {
  TestModel& test = odd_model();
  const std::vector<std::tuple<NormRange, std::string, std::string>> lies{
      {&LayerNormPlan::mean_remainder, "", "mean and its remainder do not match the sum"},
      {&LayerNormPlan::mean_complement, "", "remainder of the mean is not below d"},
      {&LayerNormPlan::root_complement, "", "square root is not the largest"},
      {&LayerNormPlan::inverse_complement, "", "remainder of the inverse is not below sigma"},
      {&LayerNormPlan::root_remainder, "/token", "statistics of a token do not match the sum-check"},
      {&LayerNormPlan::inverse_remainder, "/token", "statistics of a token do not match the sum-check"}};
  for (const LayerNormAt& norm : layer_norms_at()) {
    for (const auto& [range, below, reason] : lies) {
      SCOPED_TRACE(norm.scope + " " + reason);
      Forgery forgery(test, odd_statement(), odd_plan(), odd_trace());
      const LayerNormPlan& plan = layer_norm(forgery.plan.*norm.plan);
      const std::size_t d = test.model.shape.n_embd;
      auto& x = forgery.trace[plan.x];
      // the lying tensor as it should be, and the complement that goes with it
      ChunkedTensor<std::int64_t>& remainder = forgery.zeros(plan.token);
      ChunkedTensor<std::int64_t>& complement = forgery.zeros(plan.token);
      for (std::size_t i = 0; i < remainder.values().size(); ++i) {
        const std::int64_t mu = forgery.trace[plan.mu].values()[i];
        const std::int64_t sigma = forgery.trace[plan.sigma].values()[i];
        std::int64_t sum = 0, squares = forgery.plan.constants.epsilon;
        for (std::size_t f = 0; f < d; ++f) {
          const std::int64_t value = block_row(x, i / odd_tokens, f)[i % odd_tokens];
          sum += value;
          squares += (value - mu) * (value - mu);
        }
        const auto lie = static_cast<std::int64_t>(i == norm.place());
        const auto n = static_cast<std::int64_t>(d);
        const auto set = [&](std::int64_t value, std::int64_t limit) {
          remainder.values()[i] = value;
          complement.values()[i] = limit - value;
        };
        if (range == &LayerNormPlan::mean_remainder || range == &LayerNormPlan::mean_complement) {
          set(sum + n / 2 - n * mu, n - 1);
        } else if (range == &LayerNormPlan::root_remainder || range == &LayerNormPlan::root_complement) {
          set(squares - sigma * sigma, 2 * sigma);
        } else {
          set(forgery.plan.constants.norm_numerator - forgery.trace[plan.inverse].values()[i] * sigma, sigma - 1);
        }
        // a step that stays inside both ranges
        const std::int64_t step = remainder.values()[i] > 0 ? -lie : lie;
        const bool complement_lies = below.empty() && range != &LayerNormPlan::mean_remainder;
        remainder.values()[i] += complement_lies ? 0 : step;
        complement.values()[i] += complement_lies ? (complement.values()[i] > 0 ? -lie : lie) : -step;
      }
      if (range == &LayerNormPlan::mean_remainder || range == &LayerNormPlan::mean_complement) {
        forgery.set_range(plan.mean_remainder, remainder);
        forgery.set_range(plan.mean_complement, complement);
      } else if (range == &LayerNormPlan::root_remainder || range == &LayerNormPlan::root_complement) {
        forgery.set_range(plan.root_remainder, remainder);
        forgery.set_range(plan.root_complement, complement);
      } else {
        forgery.set_range(plan.inverse_remainder, remainder);
        forgery.set_range(plan.inverse_complement, complement);
      }
      forgery.recount();
      const Verdict verdict = verify_inference(test.key, odd_statement(), forgery.prove().payload);
      expect_rejected(verdict, norm.scope + below);
      expect_reason(verdict, reason);
    }
  }
}

/// For V < 2^32 the square of sigma = 2^32 - 1 is p - 2^32 and V - sigma^2 = V + 2^32: all identities hold.
TEST(Division, wrapped_square_root_needs_both_widths) {
  TestModel& test = odd_model();
  const auto forge = [&](const ModelPlan& plan) {
    Forgery forgery(test, odd_statement(), plan, odd_trace());
    const LayerNormPlan& norm = layer_norm(forgery.plan.norm_final);
    const std::int64_t lie = (std::int64_t{1} << 32) - 1;
    ChunkedTensor<std::int64_t>& sigma = forgery.copy(&forgery.trace[norm.sigma]);
    std::int64_t v = forgery.plan.constants.epsilon;
    for (std::size_t f = 0; f < test.model.shape.n_embd; ++f) {
      const std::int64_t x =
          block_row(forgery.trace[norm.x], 0, f)[last_token] - forgery.trace[norm.mu].values()[last_token];
      v += x * x;
    }
    EXPECT_LT(v, (std::int64_t{1} << 32) - 1);
    sigma.values()[last_token] = lie;
    // I = floor(C*2^14/sigma) = 0 for C*2^14 below it, so u of the token is its bias
    const std::int64_t inverse = forgery.plan.constants.norm_numerator / lie;
    forgery.trace[norm.inverse].values()[last_token] = static_cast<std::int32_t>(inverse);
    for (std::size_t f = 0; f < test.model.shape.n_embd; ++f) {
      const __int128 x =
          block_row(forgery.trace[norm.x], 0, f)[last_token] - forgery.trace[norm.mu].values()[last_token];
      const Parameters& p = test.model.parameters;
      const __int128 sum = x * inverse * p[gammaf].values()[f] + (__int128{p[betaf].values()[f]} << norm.bias_shift) +
                           (__int128{1} << (norm.shift - 1));
      block_row(forgery.trace[norm.u], 0, f)[last_token] = static_cast<std::int16_t>(sum >> norm.shift);
      block_row(forgery.trace[norm.u_remainder], 0, f)[last_token] =
          static_cast<std::int64_t>(sum & ((__int128{1} << norm.shift) - 1));
    }
    // the witness once more, for u and I, then the values that no int32 holds
    forgery.witness =
        make_witness(forgery.plan, forgery.statement, forgery.trace, test.parameters, test.comm, OutOfRange::skip);
    forgery.set_tensor(norm.sigma.tensor, sigma);
    forgery.set_range(norm.sigma.checked, sigma);
    std::array<ChunkedTensor<std::int64_t>*, 4> wide{};
    for (auto*& tensor : wide) {
      tensor = &forgery.zeros(norm.token);
    }
    for (std::size_t t = 0; t < odd_tokens; ++t) {
      std::int64_t sum = 0;
      const std::int64_t mu = forgery.trace[norm.mu].values()[t];
      std::int64_t here = forgery.plan.constants.epsilon;
      for (std::size_t f = 0; f < test.model.shape.n_embd; ++f) {
        sum = block_row(forgery.trace[norm.x], 0, f)[t] - mu;
        here += sum * sum;
      }
      const std::int64_t s = sigma.values()[t];
      wide[0]->values()[t] = t == last_token ? v + (std::int64_t{1} << 32) : here - s * s;
      wide[1]->values()[t] = 2 * s - wide[0]->values()[t];
      wide[2]->values()[t] = forgery.plan.constants.norm_numerator - forgery.trace[norm.inverse].values()[t] * s;
      wide[3]->values()[t] = s - 1 - wide[2]->values()[t];
    }
    forgery.set_range(norm.root_remainder, *wide[0]);
    forgery.set_range(norm.root_complement, *wide[1]);
    forgery.set_range(norm.inverse_remainder, *wide[2]);
    forgery.set_range(norm.inverse_complement, *wide[3]);
    forgery.recount();
    return verify_inference(plan, test.key, odd_statement(), forgery.prove().payload);
  };
  const LayerNormPlan& exact = layer_norm(odd_plan().norm_final);
  const std::vector<RangeId> ranges{exact.sigma.checked, exact.root_remainder, exact.inverse_remainder};
  expect_rejected(forge(odd_plan()), lookup_scope);
  for (std::size_t narrow = 0; narrow <= ranges.size(); ++narrow) {
    SCOPED_TRACE(narrow);
    ModelPlan plan = odd_plan();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (i != narrow) {
        widen(plan, ranges[i]);
      }
    }
    const Verdict verdict = forge(plan);
    EXPECT_EQ(verdict.accepted, narrow == ranges.size()) << verdict.scope << ": " << verdict.reason;
  }
}

}  // namespace
}  // namespace tessera::test
