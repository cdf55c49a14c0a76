#include "cost/encoding.hpp"

#include <algorithm>
#include <cmath>

#include "commitment/codeword.hpp"
#include "commitment/node_transform.hpp"
#include "commitment/transposed_transform.hpp"

namespace tessera {
namespace {

/// Every rank folds all coefficients into each of its classes of positions, where values do not move instead. What that
/// takes, of a codeword element's time: from simulations of 16 ranks.
constexpr double folded_cell = 0.07;

/// Ranks that move sums of coefficients (TransposedTransform): a rank's integers once, then every value.
Encoding encode_transposed(const Parts& parts, const OracleLayout& layout, const OracleParameters& oracle,
                           PhaseCost& phase) {
  constexpr double sent = TransposedTransform::sent_bytes, rows = TransposedTransform::rows_at_once;
  const double values = sizeof(F) * parts.of_ranks(power_of_two(layout.log_size() + oracle.log_inverse_rate));
  const double integers = parts.of_ranks(2.5 * static_cast<double>(layout.used()));
  const double steps = power_of_two(oracle.log_rows) / rows;
  phase.calls += 4 + steps * std::max(1.0, values / steps / sent);
  phase.bytes += parts.from_others(integers + values);
  return {integers, values / steps + 2 * sent};
}

/// Ranks that move sums of coefficients inside nodes (NodeTransform): they share the integers of some rows after the
/// other.
Encoding encode_in_nodes(const Parts& parts, const OracleLayout& layout, const OracleParameters& oracle,
                         PhaseCost& phase) {
  constexpr double rows = NodeTransform::rows_at_once;
  const double of_node = parts.job().ranks_on_node();
  const double values = sizeof(F) * parts.of_ranks(power_of_two(layout.log_size() + oracle.log_inverse_rate));
  const double integers = 2 * static_cast<double>(layout.used());
  const double steps = power_of_two(oracle.log_rows) / rows;
  phase.work[std::size_t(Work::codeword_element)] += folded_cell * static_cast<double>(layout.used()) / of_node;
  phase.calls += 4 + 3 * steps;
  const double moved = values * (of_node - 1) / of_node;
  phase.bytes += moved;
  phase.shown += moved;
  gather_shared(parts, integers, phase);
  return {2 * integers / steps / of_node, 2 * values / steps};
}

/// Ranks that gather the integers of some rows after the other and add them up for themselves (CosetTransform).
Encoding encode_folded(const Parts& parts, const OracleLayout& layout, const OracleParameters& oracle,
                       PhaseCost& phase) {
  const double rows = parts.alone() ? 16 : 8;
  const double steps = power_of_two(oracle.log_rows) / rows;
  const double values = sizeof(F) * parts.of_ranks(power_of_two(layout.log_size() + oracle.log_inverse_rate));
  if (parts.alone()) {
    phase.calls += 1;
    return {0, values / steps};
  }
  const double integers = 2 * static_cast<double>(layout.used());
  const double gathered = 2 * integers / steps;
  phase.work[std::size_t(Work::codeword_element)] +=
      folded_cell * classes_of(parts) * static_cast<double>(layout.used());
  phase.calls += steps + 3;
  gather_shared(parts, integers, phase);
  // messages between ranks come from the heap, which keeps what is freed apart from other storage
  return {gathered, values / steps + gathered};
}

}  // namespace

void gather_shared(const Parts& parts, double bytes, PhaseCost& phase) {
  if (!parts.alone()) {
    phase.shared += bytes;
    phase.bytes += parts.job().received_of_shared(bytes);
  }
}

void gather_short(const Parts& parts, double bytes, PhaseCost& phase) {
  if (parts.alone()) {
    return;
  }
  const JobShape& job = parts.job();
  phase.bytes += parts.from_others(bytes);
  if (job.ranks_on_node() > 1) {
    phase.shown += parts.from_others(bytes);
    phase.relayed += bytes * (job.nodes - 1) / job.nodes;
  }
}

double classes_of(const Parts& parts) {
  const auto ranks = static_cast<std::size_t>(parts.job().ranks);
  return std::ceil(power_of_two(ceil_log2(ranks)) / static_cast<double>(ranks));
}

Encoding encoding_of(const Parts& parts, const OracleLayout& layout, const OracleParameters& oracle, PhaseCost& phase) {
  const unsigned log_domain = layout.log_size() - oracle.log_rows + oracle.log_inverse_rate;
  const std::size_t rows = std::size_t{1} << oracle.log_rows;
  const double elements = parts.of_ranks(power_of_two(log_domain) * static_cast<double>(rows));
  phase.work[std::size_t(Work::codeword_element)] += elements;
  const ResidueShares positions = ResidueShares::of_domain(log_domain, 0, parts.job().ranks);
  const std::size_t present = (layout.used() + rows - 1) >> oracle.log_rows;
  const auto encode = NodeTransform::pays(positions, present, parts.job().ranks_on_node()) ? encode_in_nodes
                      : TransposedTransform::pays(positions, present)                      ? encode_transposed
                                                                                           : encode_folded;
  Encoding result = encode(parts, layout, oracle, phase);
  const double digests = parts.of_ranks(power_of_two(log_domain) * sizeof(Digest));
  phase.bytes += parts.alone() ? 0 : parts.from_others(digests);
  result.kept += 2 * digests;
  if (elements * sizeof(F) <= static_cast<double>(parts.job().codeword_budget)) {
    result.kept += elements * sizeof(F);
  }
  return result;
}

}  // namespace tessera
