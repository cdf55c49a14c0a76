#include "layers/attention/padded_heads.hpp"

#include <algorithm>
#include <iterator>

#include "arithmetic/integer_product.hpp"
#include "tensor/redistribute.hpp"

namespace tessera {
namespace {

/// All values of a sharded int16 tensor, chunk after chunk, on every rank.
std::vector<std::int64_t> gather(const ChunkedTensor<std::int16_t>& tensor, Communicator& comm) {
  const std::size_t size = tensor.shape().chunk_size();
  std::vector<std::int64_t> all(tensor.shape().chunk_count() * size);
  for (const std::size_t chunk : tensor.held()) {
    if (tensor.ownership().owner(tensor.shape(), chunk, comm.size()) == comm.rank()) {
      std::ranges::copy(tensor.chunk(chunk), all.begin() + static_cast<std::ptrdiff_t>(chunk * size));
    }
  }
  comm.all_reduce_sum(std::span(all));
  return all;
}

/// Chunks of a shape (B,G,..) that lie in heads of which the rank owns a tile of the scores.
std::vector<std::size_t> chunks_at_tiles(const Shape& shape, const ChunkedTensor<std::int32_t>& scores, int rank,
                                         int ranks) {
  std::vector<bool> used(shape.dimensions()[1].chunk_count());
  for (const std::size_t tile : owned_chunks(scores.shape(), scores.ownership(), rank, ranks)) {
    used[scores.shape().coordinate(tile, 1)] = true;
  }
  std::vector<std::size_t> chunks;
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (used[shape.coordinate(chunk, 1)]) {
      chunks.push_back(chunk);
    }
  }
  return chunks;
}

/// (B, F, T) features as heads, of the shape `heads`, where the scores' tiles are; one query head for each head.
ChunkedTensor<std::int16_t> pad_heads(std::size_t m, const Shape& heads, const ChunkedTensor<std::int16_t>& features,
                                      const ChunkedTensor<std::int32_t>& scores, Communicator& comm) {
  const std::vector<std::int64_t> all = gather(features, comm);
  const std::size_t tokens = features.shape().dimensions().back().chunk();
  auto padded = ChunkedTensor<std::int16_t>::holding(heads, Ownership{1},
                                                     chunks_at_tiles(heads, scores, comm.rank(), comm.size()));
  for (const std::size_t chunk : padded.held()) {
    const std::size_t block = heads.coordinate(chunk, 0);
    const std::size_t head = heads.coordinate(chunk, 1);
    const std::size_t pass = heads.coordinate(chunk, heads.dimensions().size() - 1);
    for (std::size_t i = 0; i < m; ++i) {
      const RowPlace place = row_place(features.shape(), block, head * m + i);
      const std::size_t row = (place.chunk + pass * place.step) * features.shape().chunk_size() + place.row * tokens;
      for (std::size_t t = 0; t < tokens; ++t) {
        padded.chunk(chunk)[i * tokens + t] = static_cast<std::int16_t>(all[row + t]);
      }
    }
  }
  return padded;
}

/// Some columns of a chunk (places, tokens), for BLAS: side by side to rows of `stride` values.
void widen(std::span<const std::int16_t> chunk, std::size_t places, Range tokens, double* to, std::size_t stride) {
  const std::size_t length = chunk.size() / places;
  for (std::size_t place = 0; place < places; ++place) {
    std::ranges::copy(chunk.subspan(place * length + tokens.first, tokens.size()), to + place * stride);
  }
}

}  // namespace

void multiply_tiles(const Shape& scores, std::size_t tile, std::size_t count, const ChunkedTensor<std::int16_t>& q,
                    const ChunkedTensor<std::int16_t>& k, std::span<double> products) {
  const auto& dimensions = scores.dimensions();
  const auto coordinate = [&](std::size_t dimension) { return scores.coordinate(tile, dimension); };
  const std::size_t queries = dimensions[3].chunk();
  const std::size_t keys = dimensions[4].chunk();
  const Dimension& rows = q.shape().dimensions().back();
  const std::size_t head = coordinate(0) * dimensions[1].chunk_count() + coordinate(1);
  const std::size_t query_head = head * dimensions[2].chunk_count() + coordinate(2);
  const std::size_t query = coordinate(3) * queries;  // its tile lies in one chunk of the rows
  const auto left = q.chunk(query_head * rows.chunk_count() + (query >> rows.log_chunk));
  const std::size_t first_key = head * dimensions[4].chunk_count() + coordinate(4);
  const std::size_t places = left.size() >> rows.log_chunk;  // padding is zero
  const std::size_t first = query & (rows.chunk() - 1);
  static thread_local std::vector<double> wide_left, wide_right;
  wide_left.resize(places * queries);
  wide_right.resize(places * count * keys);
  widen(left, places, {first, first + queries}, wide_left.data(), queries);
  for (std::size_t i = 0; i < count; ++i) {
    widen(k.chunk(first_key + i), places, {0, keys}, wide_right.data() + i * keys, count * keys);
  }
  multiply_real(Transpose::left, queries, count * keys, places, {wide_left.data(), queries},
                {wide_right.data(), count * keys}, products);
}

template <class T>
ChunkedTensor<T> at_tiles(const ChunkedTensor<T>& tensor, const ChunkedTensor<std::int32_t>& scores,
                          Communicator& comm) {
  const auto wanted = [&](int rank) {
    const std::vector<std::size_t> at_its_tiles = chunks_at_tiles(tensor.shape(), scores, rank, comm.size());
    const std::vector<std::size_t> own = owned_chunks(tensor.shape(), tensor.ownership(), rank, comm.size());
    std::vector<std::size_t> both;
    std::ranges::set_union(at_its_tiles, own, std::back_inserter(both));
    return both;
  };
  return redistribute(tensor, tensor.ownership(), wanted, comm);
}
template ChunkedTensor<std::int16_t> at_tiles(const ChunkedTensor<std::int16_t>&, const ChunkedTensor<std::int32_t>&,
                                              Communicator&);
template ChunkedTensor<std::int64_t> at_tiles(const ChunkedTensor<std::int64_t>&, const ChunkedTensor<std::int32_t>&,
                                              Communicator&);

PaddedHeads::PaddedHeads(const AttentionPlan& attention, const ChunkedTensor<std::int16_t>& q,
                         const ChunkedTensor<std::int16_t>& k, const ChunkedTensor<std::int32_t>& scores,
                         Communicator& comm)
    : tiles_(scores.ownership()), q_(&q), k_(&k) {
  if (!attention.heads.whole()) {
    padded_q_ = pad_heads(attention.heads.size, attention.queries, *q_, scores, comm);
    padded_k_ = pad_heads(attention.heads.size, attention.keys, *k_, scores, comm);
  } else if (comm.size() > 1) {
    padded_q_ = at_tiles(*q_, scores, comm);
    padded_k_ = at_tiles(*k_, scores, comm);
  } else {
    return;
  }
  q_ = &padded_q_;
  k_ = &padded_k_;
}

}  // namespace tessera
