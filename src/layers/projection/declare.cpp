#include "layers/projection/projection.hpp"

namespace tessera {

ProjectionPlan ProjectionPlan::declare(Builder& builder, ProjectionSpec spec) {
  ProjectionPlan projection;
  static_cast<ProjectionSpec&>(projection) = std::move(spec);
  if (projection.norm) {
    projection.normed = BranchNorm::declare(builder, *projection.norm);
  } else {
    projection.remainder =
        builder.update_remainder<std::uint16_t>("o_remainder", projection.feature, {1}, projection.shift);
  }
  return projection;
}

}  // namespace tessera
