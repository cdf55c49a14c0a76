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

/// (B, F, T) features as (B, H*m_hat, T) heads held by head.
ChunkedTensor<std::int16_t> pad_heads(const Plan& plan, const ChunkedTensor<std::int16_t>& features,
                                      const Ownership& by_head, Communicator& comm) {
  const std::vector<std::int64_t> all = gather(features, comm);
  const std::size_t tokens = plan.padded_tokens;
  const std::size_t m = plan.model.head_size();
  const std::size_t block_stride = all.size() / plan.model.n_layer;
  ChunkedTensor<std::int16_t> padded(plan.head_feature, by_head, comm.rank(), comm.size());
  for (const std::size_t chunk : padded.held()) {
    const std::size_t block = plan.head_feature.coordinate(chunk, 0);
    const std::size_t head = plan.head_feature.coordinate(chunk, 1);
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

void Witness::set_heads(const Plan& plan, const Trace& trace, Communicator& comm) {
  if (plan.whole_heads) {
    head_q_ = &trace.q;
    head_k_ = &trace.k;
  } else {
    padded_q_ = pad_heads(plan, trace.q, by_head, comm);
    padded_k_ = pad_heads(plan, trace.k, by_head, comm);
    head_q_ = &padded_q_;
    head_k_ = &padded_k_;
  }
  for (std::size_t chunk = 0; chunk < scores_.chunk_count(); ++chunk) {
    tile_head_chunk_.push_back(scores_.coordinate(chunk, 0) * plan.model.n_head + scores_.coordinate(chunk, 1));
  }
}

E Witness::square_sum_at(const LayerNormPlan& norm, std::span<const E> weights) const {
  const std::vector<std::int64_t>& sums = square_sums[norm.number];
  E result;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    result += weights[i] * F::from_signed(sums[i]);
  }
  return result;
}

void Witness::fill_score_product(std::size_t chunk, std::span<E> values) const {
  const std::size_t tile = scores_.dimensions()[2].chunk();
  const auto q_chunk = head_q_->chunk(tile_head_chunk_[chunk]);
  const auto k_chunk = head_k_->chunk(tile_head_chunk_[chunk]);
  const std::size_t tokens = scores_.dimensions()[2].length;
  const std::size_t query = scores_.coordinate(chunk, 2) * tile;
  const std::size_t key = scores_.coordinate(chunk, 3) * tile;
  std::vector<std::int64_t> row(tile);
  for (std::size_t i = 0; i < tile; ++i) {
    std::ranges::fill(row, 0);
    for (std::size_t m = 0; m < q_chunk.size() / tokens; ++m) {
      const std::int64_t left = q_chunk[m * tokens + query + i];
      const std::int16_t* right = k_chunk.data() + m * tokens + key;
      for (std::size_t j = 0; j < tile; ++j) {
        row[j] += left * right[j];
      }
    }
    for (std::size_t j = 0; j < tile; ++j) {
      values[i * tile + j] = E::from_signed(row[j]);
    }
  }
}

std::vector<E> Witness::score_products_at(const Plan& plan, std::span<const E> inner_point, Communicator& comm) const {
  const Dimension& tile = scores_.dimensions()[2];
  const std::size_t tiles = tile.chunk_count();
  const unsigned place_bits = ceil_log2(plan.model.head_size());
  // the token dimension as (tile, inside): the same order within a chunk
  const Shape split({Dimension::outer(plan.model.n_layer), Dimension::outer(plan.model.n_head),
                     Dimension::whole(std::size_t{1} << place_bits), Dimension::whole(tiles),
                     Dimension::whole(tile.chunk())});
  const auto at = [&](const ChunkedTensor<std::int16_t>* tensor, std::span<const E> point) {
    return contract(tensor, split, {Axis{}, Axis{}, Axis{}, Axis{}, eq_table(point)}, comm);
  };
  const std::vector<E> q_at = at(head_q_, inner_point.first(tile.log_chunk));
  const std::vector<E> k_at = at(head_k_, inner_point.last(tile.log_chunk));
  std::vector<E> result(std::size_t{1} << scores_.outer_bits());
  const std::size_t places = std::size_t{1} << place_bits;
  const std::size_t heads = result.size() / (tiles * tiles);
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t m = 0; m < places; ++m) {
      const E* q_row = q_at.data() + (head * places + m) * tiles;
      const E* k_row = k_at.data() + (head * places + m) * tiles;
      for (std::size_t i = 0; i < tiles; ++i) {
        for (std::size_t j = 0; j < tiles; ++j) {
          result[(head * tiles + i) * tiles + j] += q_row[i] * k_row[j];
        }
      }
    }
  }
  return result;
}

std::vector<E> Witness::embedding_rows(const Plan& plan, std::span<const std::uint32_t> tokens,
                                       Communicator& comm) const {
  const auto* table = std::get<const ChunkedTensor<std::int16_t>*>(parameters[embedding]);
  const auto& dimensions = plan.parameter_layout.tensors()[embedding].dimensions();
  const std::size_t features = std::size_t{1} << dimensions[1].bits();
  std::vector<E> rows(tokens.size() * features);
  for (const std::size_t chunk : table->held()) {
    const std::size_t first = table->shape().coordinate(chunk, 0) << dimensions[0].log_chunk;
    const std::size_t feature = table->shape().coordinate(chunk, 1) << dimensions[1].log_chunk;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] >= first && tokens[i] < first + dimensions[0].chunk()) {
        const auto row =
            table->chunk(chunk).subspan((tokens[i] - first) * dimensions[1].chunk(), dimensions[1].chunk());
        for (std::size_t f = 0; f < row.size(); ++f) {
          rows[i * features + feature + f] = E::from_signed(row[f]);
        }
      }
    }
  }
  comm.all_reduce_sum(rows);
  return rows;
}

}  // namespace tessera
