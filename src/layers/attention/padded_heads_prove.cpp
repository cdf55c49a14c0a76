#include "layers/attention/padded_heads.hpp"

#include "plan/witness.hpp"

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

/// (B, F, T) features as heads held by head, of the shape `heads`; one query head for each head.
ChunkedTensor<std::int16_t> pad_heads(std::size_t m, const Shape& heads, const ChunkedTensor<std::int16_t>& features,
                                      Communicator& comm) {
  const std::vector<std::int64_t> all = gather(features, comm);
  const std::size_t tokens = features.shape().dimensions()[2].chunk();
  const std::size_t block_stride = all.size() / heads.dimensions()[0].length;
  ChunkedTensor<std::int16_t> padded(heads, Ownership{1}, comm.rank(), comm.size());
  for (const std::size_t chunk : padded.held()) {
    const std::size_t block = heads.coordinate(chunk, 0);
    const std::size_t head = heads.coordinate(chunk, 1);
    for (std::size_t i = 0; i < m; ++i) {
      // chunks of one block follow each other, so a feature's row is at feature*tokens
      const std::size_t row = block * block_stride + (head * m + i) * tokens;
      for (std::size_t t = 0; t < tokens; ++t) {
        padded.chunk(chunk)[i * tokens + t] = static_cast<std::int16_t>(all[row + t]);
      }
    }
  }
  return padded;
}

}  // namespace

PaddedHeads::PaddedHeads(const AttentionPlan& attention, const Witness& witness, Communicator& comm)
    : scores_(attention.scores), q_(&witness[attention.q]), k_(&witness[attention.k]) {
  if (!attention.heads.whole()) {
    padded_q_ = pad_heads(attention.heads.size, attention.queries, *q_, comm);
    padded_k_ = pad_heads(attention.heads.size, attention.keys, *k_, comm);
    q_ = &padded_q_;
    k_ = &padded_k_;
  }
}

}  // namespace tessera
