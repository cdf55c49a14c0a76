#include <algorithm>
#include <array>

#include "model/inference.hpp"

namespace tessera {
namespace {

constexpr std::size_t max_tile = 128;

void widen_rows(const std::int16_t* from, std::size_t stride, std::size_t rows, std::size_t columns,
                std::vector<double>& to) {
  to.resize(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      to[row * columns + column] = from[row * stride + column];
    }
  }
}

}  // namespace

/// One thread's intermediate values of a query tile. All matrices row-major.
struct IntegerTransformer::AttentionBuffers {
  std::vector<double> left, right;        // BLAS operands
  std::vector<double> products;           // A (rows, keys), later e
  std::vector<double> partial;            // (places, rows)
  std::vector<std::int16_t> score;        // z of one row
  std::vector<std::uint16_t> remainder;   // of z
  std::vector<std::int32_t> exponential;  // e (rows, keys), 0 above the diagonal
  std::vector<std::int64_t> sum;          // D (rows)
  std::vector<std::int64_t> value_sum;    // O (places, rows)
};

void IntegerTransformer::project_qkv(std::size_t block, const Batch& batch) {
  const std::size_t d = model_.shape.n_embd;
  const Parameters& p = *model_.parameters;
  const Exponents& e = model_.exponents;
  const ProductInput input(batch.u, d, batch.size);
  const auto linear = [&](std::string_view name, const SparseVector<std::int16_t>& weights,
                          const SparseVector<std::int16_t>& bias, int shift, int bias_shift) {
    return Linear{name, std::span(weights).subspan(block * d * d, d * d), bias.data() + block * d, shift, bias_shift};
  };
  queries_.resize(qkv_.size() * batch.size);
  const std::size_t cached = block * qkv_.size() * capacity_ + batch.first;
  project(linear("q", p.wq, p.bq, e.shift_q(), e.bias_q()), input,
          {qkv_, queries_.data(), batch.size, qkv_owned_, trace_.q, trace_.q_remainder}, block, batch.first);
  project(linear("k", p.wk, p.bk, e.shift_k(), e.bias_k()), input,
          {qkv_, keys_.data() + cached, capacity_, qkv_owned_, trace_.k, trace_.k_remainder}, block, batch.first);
  project(linear("v", p.wv, p.bv, e.shift_v(), e.bias_v()), input,
          {qkv_, values_.data() + cached, capacity_, qkv_owned_, trace_.v, trace_.v_remainder}, block, batch.first);
}

std::vector<std::int16_t> IntegerTransformer::attention(std::size_t block, const Batch& batch) {
  project_qkv(block, batch);
  std::vector<QueryTile> tiles;
  for (std::size_t head = heads_.first; head < heads_.last; ++head) {
    const std::size_t end = batch.first + batch.size;
    for (std::size_t first = batch.first; first < end;) {
      const std::size_t next = std::min(end, (first / max_tile + 1) * max_tile);
      tiles.push_back({block, head, first, next - first});
      first = next;
    }
  }
  const std::size_t m = model_.shape.head_size();
  std::vector<std::int16_t> y(heads_.size() * m * batch.size);
  const std::size_t steps = heads_.size() * m * batch.size * (batch.first + batch.size);
#pragma omp parallel if (steps > parallel_work)
  {
    AttentionBuffers buffers;
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const QueryTile& tile = tiles[i];
      score_products(tile, batch, buffers);
      buffers.exponential.assign(tile.rows * tile.keys(), 0);
      buffers.sum.resize(tile.rows);
      for (std::size_t row = 0; row < tile.rows; ++row) {
        softmax_row(tile, row, buffers);
      }
      value_products(tile, buffers);
      normalize(tile, batch, buffers, y.data() + (tile.head - heads_.first) * m * batch.size);
    }
  }
  return gather(std::move(y));
}

/// A = q^T k, exact in float64: |A| <= m*2^30.
void IntegerTransformer::score_products(const QueryTile& tile, const Batch& batch, AttentionBuffers& buffers) const {
  const std::size_t m = model_.shape.head_size();
  const std::size_t place = tile.head * m - qkv_.first;
  const std::int16_t* q = queries_.data() + place * batch.size + (tile.first - batch.first);
  const std::int16_t* k = keys_.data() + (tile.block * qkv_.size() + place) * capacity_;
  const std::size_t keys = tile.keys();
  if (tile.rows > ProductInput::narrow) {
    widen_rows(q, batch.size, m, tile.rows, buffers.left);
    widen_rows(k, capacity_, m, keys, buffers.right);
    buffers.products.resize(tile.rows * keys);
    multiply_real(Transpose::left, tile.rows, keys, m, {buffers.left.data(), tile.rows}, {buffers.right.data(), keys},
                  buffers.products);
    return;
  }
  buffers.products.assign(tile.rows * keys, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
      const std::int32_t factor = q[i * batch.size + row];
      double* products = buffers.products.data() + row * keys;
      for (std::size_t key = 0; key < keys; ++key) {
        products[key] += static_cast<double>(factor * std::int32_t{k[i * capacity_ + key]});
      }
    }
  }
}

/// z, M, e and D of one query; keys above the diagonal take no part.
void IntegerTransformer::softmax_row(const QueryTile& tile, std::size_t row, AttentionBuffers& buffers) {
  const std::size_t position = tile.first + row;
  const std::size_t keys = position + 1;
  const double* products = buffers.products.data() + row * tile.keys();
  std::int32_t* exponential = buffers.exponential.data() + row * tile.keys();
  const int shift = model_.exponents.shift_score();
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  buffers.score.resize(keys);
  buffers.remainder.resize(keys);
  std::int64_t low = INT64_MAX;
  std::int64_t high = INT64_MIN;
  for (std::size_t key = 0; key < keys; ++key) {
    const std::int64_t sum = static_cast<std::int64_t>(products[key]) + half;
    const std::int64_t z = sum >> shift;
    low = std::min(low, z);
    high = std::max(high, z);
    buffers.score[key] = static_cast<std::int16_t>(z);
    buffers.remainder[key] = static_cast<std::uint16_t>(sum & (2 * half - 1));
  }
  guard_.check("attention score", low, Bounds::signed_bits(16));
  guard_.check("attention score", high, Bounds::signed_bits(16));
  // of the narrowed scores, so that d stays in [0, 2^16) even after a violation
  const std::int16_t maximum = *std::ranges::max_element(buffers.score);
  std::int64_t total = 0;
  for (std::size_t key = 0; key < keys; ++key) {
    exponential[key] = model_.exp_table[static_cast<std::size_t>(maximum - buffers.score[key])];
    total += exponential[key];
  }
  buffers.sum[row] = total;
  if (recording()) {
    trace_row(trace_.row_max, tile.block, tile.head)[position] = maximum;
    trace_row(trace_.row_sum, tile.block, tile.head)[position] = total;
    record_scores(tile, row, buffers);
  }
}

void IntegerTransformer::record_scores(const QueryTile& tile, std::size_t row, const AttentionBuffers& buffers) {
  const Shape& shape = trace_.score.shape();
  const std::size_t side = shape.dimensions().back().chunk();
  const std::size_t position = tile.first + row;
  const std::int32_t* exponential = buffers.exponential.data() + row * tile.keys();
  for (std::size_t key = 0; key <= position; key += side) {
    const std::size_t count = std::min(side, position + 1 - key);
    const std::size_t chunk =
        shape.chunk_at(std::array<std::size_t, 4>{tile.block, tile.head, position / side, key / side});
    const std::size_t at = (position % side) * side;
    std::copy_n(buffers.score.data() + key, count, trace_.score.chunk(chunk).data() + at);
    std::copy_n(buffers.remainder.data() + key, count, trace_.score_remainder.chunk(chunk).data() + at);
    std::copy_n(exponential + key, count, trace_.exponential.chunk(chunk).data() + at);
  }
}

/// O = v e^T.
void IntegerTransformer::value_products(const QueryTile& tile, AttentionBuffers& buffers) const {
  const std::size_t m = model_.shape.head_size();
  const std::size_t keys = tile.keys();
  const std::int16_t* v = values_.data() + (tile.block * qkv_.size() + tile.head * m - qkv_.first) * capacity_;
  buffers.value_sum.assign(m * tile.rows, 0);
  if (tile.rows <= ProductInput::narrow) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t row = 0; row < tile.rows; ++row) {
        std::int64_t total = 0;
        for (std::size_t key = 0; key < keys; ++key) {
          total += std::int64_t{buffers.exponential[row * keys + key]} * v[i * capacity_ + key];
        }
        buffers.value_sum[i * tile.rows + row] = total;
      }
    }
    return;
  }
  // partial sums are at most 2^15*keys*e(0); beyond 2^53 take e in two halves of at most 2^15 each
  const std::int64_t largest = (std::int64_t{model_.exp_table[0]} << 15) * static_cast<std::int64_t>(keys);
  const bool split = largest > (std::int64_t{1} << 53);
  const int half = split ? 14 : 0;
  widen_rows(v, capacity_, m, keys, buffers.left);
  buffers.partial.resize(m * tile.rows);
  for (int part = split ? 1 : 0; part >= 0; --part) {
    const std::int32_t mask = split && part == 0 ? (1 << half) - 1 : INT32_MAX;
    for (std::size_t i = 0; i < buffers.exponential.size(); ++i) {
      buffers.products[i] = static_cast<double>((buffers.exponential[i] >> (part * half)) & mask);
    }
    multiply_real(Transpose::right, m, tile.rows, keys, {buffers.left.data(), keys}, {buffers.products.data(), keys},
                  buffers.partial);
    for (std::size_t i = 0; i < buffers.value_sum.size(); ++i) {
      buffers.value_sum[i] += static_cast<std::int64_t>(buffers.partial[i]) * (std::int64_t{1} << (part * half));
    }
  }
}

/// R = floor(2^46/D) and y = rshift(O*R, 46), |O*R| <= 2^61; `y` is the head's part (m, batch.size).
void IntegerTransformer::normalize(const QueryTile& tile, const Batch& batch, const AttentionBuffers& buffers,
                                   std::int16_t* y) {
  constexpr std::int64_t one = std::int64_t{1} << softmax_shift;
  const std::size_t outer = tile.block * model_.shape.n_head + tile.head;
  const Bounds inverse_bounds = Bounds::unsigned_bits(softmax_shift - model_.constants.kappa - 15);
  std::vector<std::int64_t> inverse(tile.rows);
  for (std::size_t row = 0; row < tile.rows; ++row) {
    inverse[row] = one / buffers.sum[row];
    guard_.check("soft-max inverse", inverse[row], inverse_bounds);
    if (recording()) {
      trace_row(trace_.row_inverse, tile.block, tile.head)[tile.first + row] = static_cast<std::int32_t>(inverse[row]);
    }
  }
  for (std::size_t i = 0; i < model_.shape.head_size(); ++i) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
      const std::int64_t total = buffers.value_sum[i * tile.rows + row];
      const std::int64_t sum = total * inverse[row] + one / 2;
      const std::int64_t result = sum >> softmax_shift;
      guard_.check("attention y", result, Bounds::signed_bits(16));
      y[i * batch.size + (tile.first - batch.first) + row] = static_cast<std::int16_t>(result);
      if (recording()) {
        const std::size_t at = tile.first + row;
        trace_row(trace_.value_sum, outer, i)[at] = total;
        trace_row(trace_.y, outer, i)[at] = static_cast<std::int16_t>(result);
        trace_row(trace_.y_remainder, outer, i)[at] = sum & (one - 1);
      }
    }
  }
}

}  // namespace tessera
