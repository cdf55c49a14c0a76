#pragma once

#include "plan/context.hpp"
#include "plan/witness.hpp"

#include "../tensor/random_values.hpp"

namespace tessera::test {

/// What transcripts of a layer that is proven alone begin with.
inline const Digest layer_seed = blake2s(std::vector<std::uint8_t>{9});

/// Every column's extension at a random point, computed from all its values: what a true look-up says. Collective.
inline LookupClaims true_lookup(const Plan& plan, const Witness& witness, Communicator& comm) {
  RandomElements random(3);
  LookupClaims claims;
  claims.point = random.elements(plan.lookup.slots().log_leaves);
  for (std::size_t c = 0; c < plan.lookup.columns.size(); ++c) {
    const Shape& shape = plan.lookup.columns[c].shape;
    std::vector<std::uint32_t> a(shape.chunk_size());
    std::vector<std::int32_t> b(plan.lookup.tables[plan.lookup.columns[c].table].values.empty() ? 0 : a.size());
    std::vector<E> column_a(std::size_t{1} << shape.bits());
    std::vector<E> column_b(column_a.size());
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      if (witness.columns[c].ownership.owner(shape, chunk, comm.size()) != comm.rank()) {
        continue;
      }
      witness.columns[c].read(chunk, a, b);
      const std::size_t first = shape.outer_index(chunk) << shape.inner_bits();
      std::ranges::transform(a, column_a.begin() + static_cast<std::ptrdiff_t>(first), E::from_unsigned);
      std::ranges::transform(b, column_b.begin() + static_cast<std::ptrdiff_t>(first), E::from_signed);
    }
    comm.all_reduce_sum(column_a);
    comm.all_reduce_sum(column_b);
    claims.a.push_back(evaluate(column_a, claims.column_point(shape)));
    claims.b.push_back(evaluate(column_b, claims.column_point(shape)));
  }
  for (const TensorId tensor : plan.multiplicities) {
    const Shape& shape = plan.witness_shapes[tensor];
    claims.multiplicity.push_back(weighted_sum(witness.tensors[tensor], shape,
                                               weight_at(to_tensor_point(shape, claims.column_point(shape))), comm));
  }
  return claims;
}

}  // namespace tessera::test
