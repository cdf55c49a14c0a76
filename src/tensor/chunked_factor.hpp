#pragma once

#include <functional>
#include <map>
#include <optional>

#include "cluster/communicator.hpp"
#include "tensor/beginnings.hpp"
#include "tensor/chunked_tensor.hpp"
#include "tensor/claim.hpp"
#include "tensor/places.hpp"

namespace tessera {

/// scale * prod_j weight_j, one weight a dimension; or scale times what is at some places, or at columns' beginnings.
struct ScaledWeight {
  std::vector<Factor> weight;
  E scale;
  const Places* places = nullptr;          // in the place of `weight`
  const Beginnings* beginnings = nullptr;  // likewise
};

/// Factors of a sharded sum-check over a shape, as data.

/// An integer tensor itself; absent chunks are zero.
struct TensorFactor {
  IntegerTensor tensor;
};
/// A sum of scaled weights.
struct WeightFactor {
  /// All weights as tables over their dimensions.
  struct Term {
    E scale;
    std::vector<std::vector<E>> tables;
  };
  WeightFactor(Shape over, const std::vector<ScaledWeight>& weights);
  /// What is added at a place of a chunk.
  struct Placed {
    std::size_t inner = 0;
    E value;
  };
  Shape shape;
  std::vector<Term> terms;
  std::map<std::size_t, std::vector<Placed>> placed;  // by chunk
  std::vector<Beginnings> beginnings;                 // scaled
};
/// `table` is dense over the dimensions with `kept` set (padded), the factor constant along the others.
struct BroadcastFactor {
  BroadcastFactor(Shape over, std::vector<E> values, std::vector<bool> kept_dimensions);
  Shape shape;
  std::vector<E> table;
  std::vector<bool> kept;
  std::vector<std::size_t> stride;  ///< of the table along each dimension; 0: not kept
};
/// 1 where the last dimension's index is at most that of the one before it + `shift`, over a causal shape; and, where
/// the first dimension's index has a window, above that sum less the window.
struct CausalMask {
  Shape shape;
  std::size_t shift = 0;
};
/// What somebody has computed: values of all present chunks, one after the other, on every rank, and of all on the
/// outer cube, absent chunks too, once inner variables are bound.
struct TableFactor {
  std::span<const E> values;
  std::function<std::vector<E>(std::span<const E> inner_point, Communicator& comm)> outer;
};
using ChunkedFactor = std::variant<TensorFactor, WeightFactor, BroadcastFactor, CausalMask, TableFactor>;

/// Values of a chunk that this rank owns (2^inner_bits, inner indices row-major).
void fill_chunk(const ChunkedFactor& factor, std::size_t chunk, std::span<E> values);
/// The factor on the whole outer cube (2^outer_bits), the inner variables bound; nothing if the owners' values have to
/// be gathered, absent chunks being zero. Collective.
std::optional<std::vector<E>> outer_table(const ChunkedFactor& factor, std::span<const E> inner_point,
                                          Communicator& comm);

}  // namespace tessera
