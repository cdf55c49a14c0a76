#include <algorithm>
#include "arithmetic/row_share.hpp"
#include "tensor/chunked_tensor.hpp"
#include "plan/trace.hpp"

namespace tessera {
namespace {

/// The smallest range that contains both.
Range hull(Range a, Range b) {
  if (a.size() == 0 || b.size() == 0) {
    return a.size() == 0 ? b : a;
  }
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

}  // namespace

Range owned_rows(const Dimension& dimension, int rank, int ranks) {
  const std::size_t chunks = dimension.chunk_count();
  Range owned{chunks, chunks};
  for (std::size_t chunk = chunks; chunk-- > 0;) {
    const int owner = contiguous_owner(chunk, chunks, ranks);
    owned.first = owner >= rank ? chunk : owned.first;
    owned.last = owner > rank ? chunk : owned.last;
  }
  const auto row = [&](std::size_t chunk) { return std::min(chunk << dimension.log_chunk, dimension.length); };
  return {row(owned.first), row(owned.last)};
}

RowShare RowShare::of(const ModelShape& shape, int rank, int ranks) {
  const auto mine = [&](const Dimension& dimension) { return owned_rows(dimension, rank, ranks); };
  RowShare share;
  share.features = mine(Dimension::tiled(shape.n_embd));
  share.inner = mine(Dimension::tiled(shape.n_inner));
  share.vocabulary = mine(Dimension::tiled(shape.n_vocab));
  share.positions = mine(Dimension::tiled(shape.n_positions));
  share.heads = mine(Dimension::outer(shape.n_head));
  share.qkv_owned = mine(ActivationShapes::of(shape, 1).block_qkv.dimensions()[1]);
  share.qkv = hull({share.heads.first * shape.head_size(), share.heads.last * shape.head_size()}, share.qkv_owned);
  return share;
}

Range RowShare::of_parameter(std::string_view name, std::size_t rows) const {
  if (name == "embedding") {
    return vocabulary;
  }
  if (name == "position") {
    return positions;
  }
  if (name == "wq" || name == "wk" || name == "wv") {
    return qkv;
  }
  if (name == "w1") {
    return inner;
  }
  if (name == "wo" || name == "w2") {
    return features;
  }
  return {0, rows};
}

}  // namespace tessera
