#include "cost/rates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera {
namespace {

/// Steps of a collective call among so many ranks: in each one twice as many know of each other.
double steps(int ranks) { return std::max(1.0, std::ceil(std::log2(ranks))); }

/// One step of coordinate descent on the residuals of one rate; returns how far it went.
double improve(std::size_t kind, const std::vector<Amounts>& scaled, std::vector<double>& residuals, Amounts& rates) {
  double gradient = 0, curvature = 0;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    gradient += scaled[i][kind] * residuals[i];
    curvature += scaled[i][kind] * scaled[i][kind];
  }
  if (curvature == 0) {
    return 0;
  }
  const double next = std::max(0.0, rates[kind] - gradient / curvature);
  const double step = next - rates[kind];
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    residuals[i] += scaled[i][kind] * step;
  }
  rates[kind] = next;
  return std::abs(step) * std::sqrt(curvature);
}

}  // namespace

std::optional<Rates> rates_for(const MachineRates& rates, int ranks_on_node, int threads) {
  const auto distance = [&](const Rates& entry) {
    const double together = std::abs(std::log(double(ranks_on_node * threads) / (entry.ranks_on_node * entry.threads)));
    return together + std::abs(std::log(double(threads) / entry.threads));
  };
  const auto nearest = std::ranges::min_element(rates.list, {}, distance);
  if (nearest == rates.list.end()) {
    return std::nullopt;
  }
  std::optional<Rates> result = *nearest;
  if (result->ranks_on_node == 1) {
    const Rates* several = nullptr;
    for (const Rates& entry : rates.list) {
      if (entry.ranks_on_node > 1 && (several == nullptr || distance(entry) < distance(*several))) {
        several = &entry;
      }
    }
    if (several != nullptr) {
      result->call_seconds = several->call_seconds / steps(several->ranks_on_node);
      result->byte_seconds = several->byte_seconds;
      result->shown_byte_seconds = several->shown_byte_seconds;
    }
  }
  return result;
}

Rates nominal_rates() {
  Rates rates;
  rates.seconds = {0.4e-9, 0.1e-9, 2e-9,  3e-9,   13e-9,  39e-9, 54e-9, 60e-9, 10e-6, 0.4e-9,
                   1e-9,   20e-9,  10e-6, 0.4e-9, 150e-9, 6e-9,  0.02,  15e-9, 0.04};
  return rates;
}

double communication_seconds(const PhaseCost& phase, const Rates& rates, const JobShape& job,
                             const std::optional<Network>& network) {
  // what is received, and what a rank writes for its node
  const double messages = phase.bytes - phase.shown + (job.ranks_on_node() > 1 ? phase.shared / job.ranks : 0);
  const double copied = (messages + phase.relayed) * rates.byte_seconds + phase.shown * rates.shown_byte_seconds;
  if (!network || job.ranks == 1) {
    return phase.calls * rates.call_seconds + copied;
  }
  const int together = job.ranks_on_node();
  const double here = together == 1 ? 0 : steps(together) * rates.call_seconds / steps(rates.ranks_on_node);
  if (job.nodes == 1) {
    return phase.calls * here + copied;
  }
  const double there = steps(job.nodes) * network->message_seconds;
  const double shared = job.received_of_shared(phase.shared);  // all of it from other nodes
  const double from_others = (phase.bytes - shared - phase.shown) * (job.nodes - 1) / job.nodes + shared;
  return phase.calls * (here + there) + copied + (from_others * together + phase.relayed) * network->byte_seconds;
}

double seconds_of(const PhaseCost& phase, const Rates& rates, const JobShape& job,
                  const std::optional<Network>& network) {
  double seconds = communication_seconds(phase, rates, job, network);
  for (std::size_t kind = 0; kind < work_kinds; ++kind) {
    seconds += phase.work[kind] * rates.seconds[kind];
  }
  return seconds;
}

Amounts fit_rates(const std::vector<Sample>& samples) {
  constexpr double least_seconds = 1e-3;  // shorter phases count as that
  constexpr double prior_weight = 0.1;    // of a kind's nominal rate, in samples
  constexpr int most_rounds = 20000;
  if (samples.empty()) {
    return {};
  }
  const Amounts nominal = nominal_rates().seconds;
  std::vector<Amounts> scaled;
  std::vector<double> residuals, slower;
  for (const Sample& sample : samples) {
    const double unit = std::max(sample.seconds, least_seconds);
    Amounts& row = scaled.emplace_back(sample.work);
    std::ranges::transform(row, row.begin(), [unit](double amount) { return amount / unit; });
    residuals.push_back(-sample.seconds / unit);
    slower.push_back(-residuals.back() /
                     std::max(1e-9, std::inner_product(row.begin(), row.end(), nominal.begin(), 0.0)));
  }
  const auto middle = slower.begin() + static_cast<std::ptrdiff_t>(slower.size() / 2);
  std::ranges::nth_element(slower, middle);
  // what few samples tell apart stays near what it is elsewhere, at this machine's speed
  for (std::size_t kind = 0; kind < work_kinds; ++kind) {
    scaled.emplace_back(Amounts{})[kind] = prior_weight / (*middle * nominal[kind]);
    residuals.push_back(-prior_weight);
  }
  Amounts rates{};
  for (int round = 0; round < most_rounds; ++round) {
    double moved = 0;
    for (std::size_t kind = 0; kind < work_kinds; ++kind) {
      moved += improve(kind, scaled, residuals, rates);
    }
    if (moved < 1e-9) {
      break;
    }
  }
  return rates;
}

}  // namespace tessera
