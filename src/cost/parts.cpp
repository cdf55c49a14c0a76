#include "cost/parts.hpp"

#include <algorithm>

namespace tessera {

Parts::Parts(const ModelPlan& plan, const JobShape& job) : plan_(plan), job_(job), ranks_(job.ranks) {
  for (const ParameterRow& row : parameter_table(plan.model)) {
    parameters_.push_back(row.ownership());
  }
  columns_.resize(plan.lookup.columns.size());
  for (const RangeCheck& range : plan.ranges) {
    for (const std::size_t column : range.columns) {
      columns_[column] = of(range.source, range.shape);
    }
  }
  for (const PairLookup& pair : plan.pairs) {
    columns_[pair.column] = of(plan.witness_sources[pair.output], pair.shape);
  }
}

double Parts::share(const Shape& shape, const Ownership& ownership) const {
  if (ownership.dimension == Ownership::replicated) {
    return 1;  // rank 0's
  }
  const std::size_t count = ownership.parts(shape);
  const std::size_t largest = (count + static_cast<std::size_t>(ranks_) - 1) / static_cast<std::size_t>(ranks_);
  return static_cast<double>(largest) / static_cast<double>(count);
}

double Parts::lookups(std::size_t column) const {
  const Shape& shape = plan_.lookup.columns[column].shape;
  const Ownership& ownership = columns_[column];
  return ownership.dimension == Ownership::replicated ? std::max(cells(shape) / ranks_, double(shape.chunk_size()))
                                                      : held(shape, ownership);
}

Ownership Parts::of(const Source& source, const Shape& shape) const {
  if (source.kind == Source::Kind::recorded) {
    return plan_.recorded[source.number].ownership;
  }
  if (source.kind == Source::Kind::derived) {
    return plan_.derived[source.number].ownership;
  }
  for (const DeclaredTensor& tensor : plan_.recorded) {
    if (tensor.shape == shape) {
      return tensor.ownership;
    }
  }
  return {shape.dimensions().size() > 2 ? 1 : Ownership::replicated};
}

Resident resident(const Parts& parts) {
  const ModelPlan& plan = parts.plan();
  Resident result;
  for (std::size_t i = 0; i < parameter_table(plan.model).size(); ++i) {
    const double bytes = sizeof(std::int16_t) * parts.parameter(i);
    result.parameters += bytes;
    result.largest_parameter = std::max(result.largest_parameter, bytes);
  }
  for (const DeclaredTensor& tensor : plan.recorded) {
    result.trace += tensor.bytes * parts.held(tensor.shape, tensor.ownership);
  }
  for (const DeclaredTensor& tensor : plan.derived) {
    result.derived += sizeof(std::int64_t) * parts.held(tensor.shape, tensor.ownership);
  }
  for (const RangeCheck& range : plan.ranges) {
    for (const TensorId tensor : range.committed) {
      result.pieces +=
          plan.witness_sources[tensor].kind != Source::Kind::layer ? 0 : sizeof(std::uint16_t) * parts.witness(tensor);
    }
  }
  for (const TensorId tensor : plan.multiplicities) {
    result.pieces += sizeof(std::int64_t) * cells(plan.witness_shapes[tensor]);
  }
  if (plan.past > 0 || plan.pass.keeps) {
    for (std::size_t i = 0; i < plan.state_layout.tensors().size(); ++i) {
      const double sides = (plan.past > 0 ? 1 : 0) + (plan.pass.keeps ? 1 : 0);
      result.pieces += sizeof(std::int16_t) * sides * parts.state(i);
    }
  }
  return result;
}

}  // namespace tessera
