#pragma once

#include <cmath>
#include <vector>

#include "cost/work.hpp"

/// \file
/// How much of a plan's tensors a rank has.

namespace tessera {

inline double cells(const Shape& shape) {
  return static_cast<double>(shape.chunk_count()) * static_cast<double>(shape.chunk_size());
}

inline double power_of_two(unsigned exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

/// Sizes of a plan as the rank with the largest share sees them.
class Parts {
 public:
  /// References to both are kept.
  Parts(const ModelPlan& plan, const JobShape& job);

  /// The largest share of a tensor that one rank works on.
  [[nodiscard]] double share(const Shape& shape, const Ownership& ownership) const;
  [[nodiscard]] double held(const Shape& shape, const Ownership& ownership) const {
    return cells(shape) * share(shape, ownership);
  }
  [[nodiscard]] double parameter(std::size_t number) const {
    return held(plan_.parameter_layout.tensors()[number], parameters_[number]);
  }
  [[nodiscard]] double witness(std::size_t number) const {
    const Shape& shape = plan_.witness_shapes[number];
    return held(shape, of(plan_.witness_sources[number], shape));
  }
  [[nodiscard]] double state(std::size_t number) const { return held(plan_.state_layout.tensors()[number], {1}); }
  /// Who owns the columns of the look-up.
  [[nodiscard]] std::span<const Ownership> columns() const { return columns_; }
  /// Look-ups of a column: chunks of replicated ones are distributed.
  [[nodiscard]] double lookups(std::size_t column) const;
  [[nodiscard]] double of_ranks(double whole) const { return whole / ranks_; }
  [[nodiscard]] const ModelPlan& plan() const { return plan_; }
  [[nodiscard]] const JobShape& job() const { return job_; }
  [[nodiscard]] bool alone() const { return ranks_ == 1; }
  /// How many of the bytes that are gathered from all ranks come from the others.
  [[nodiscard]] double from_others(double bytes) const { return bytes * (ranks_ - 1) / ranks_; }

 private:
  /// Layers' own ranges and inputs have the ownership of what is recorded in the same shape.
  [[nodiscard]] Ownership of(const Source& source, const Shape& shape) const;

  const ModelPlan& plan_;
  const JobShape& job_;
  double ranks_;
  std::vector<Ownership> parameters_, columns_;
};

/// What is in memory throughout.
struct Resident {
  double parameters = 0, trace = 0, derived = 0, pieces = 0;
  double largest_parameter = 0;  // there twice while its chunks are made
  [[nodiscard]] double sum() const { return parameters + trace + derived + pieces; }
};
Resident resident(const Parts& parts);

}  // namespace tessera
