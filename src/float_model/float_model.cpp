#include "float_model/float_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "arithmetic/integer_product.hpp"
#include "base/errors.hpp"
#include "float_model/blas.hpp"
#include "float_model/exponentials.hpp"
#include "float_model/float_layers.hpp"
#include "checkpoints/rope.hpp"

namespace tessera {
namespace {

constexpr std::size_t queries_at_once = 128;  // keys behind all of them are left out

/// exp(row - maximum) over its sum. Returns the largest absolute value that was there.
template <class Real>
Real soft_max(std::span<Real> row) {
  Real most = row.front();
  Real least = row.front();
#pragma omp simd reduction(max : most) reduction(min : least)
  for (std::size_t i = 0; i < row.size(); ++i) {
    most = std::max(most, row[i]);
    least = std::min(least, row[i]);
  }
  const auto inverse = static_cast<Real>(1.0 / exponentials(row, most));
  for (Real& value : row) {
    value *= inverse;
  }
  return std::max(std::abs(most), std::abs(least));
}

/// The largest absolute value.
template <class Real>
Real largest_of(std::span<const Real> values) {
  Real most = 0;
#pragma omp simd reduction(max : most)
  for (std::size_t i = 0; i < values.size(); ++i) {
    most = std::max(most, std::abs(values[i]));
  }
  return most;
}

/// C = A*B.
void multiply(const ProductSizes& sizes, StridedMatrix<const double> a, StridedMatrix<const double> b,
              StridedMatrix<double> c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, sizes.transposed ? CblasTrans : CblasNoTrans, blas_int(sizes.rows),
              blas_int(sizes.columns), blas_int(sizes.inner), 1.0, a.values, blas_int(a.stride), b.values,
              blas_int(b.stride), 0.0, c.values, blas_int(c.stride));
}
void multiply(const ProductSizes& sizes, StridedMatrix<const float> a, StridedMatrix<const float> b,
              StridedMatrix<float> c) {
  multiply_in_order(sizes, a, b, c);
}

}  // namespace

/// Adds what passes by to ranges and channel maxima, if they are asked for.
template <class Real>
class BasicTransformer<Real>::Recorder {
 public:
  Recorder(const ModelShape& shape, ActivationRanges* ranges, ChannelMaxima* channels)
      : shape_(shape), ranges_(ranges), channels_(shape.rotary() ? channels : nullptr) {}

  void range(const std::string& kind, std::span<const Real> values) const {
    if (ranges_ == nullptr) {
      return;
    }
    Real maximum = 0;
#pragma omp parallel for simd schedule(static) reduction(max : maximum) if (parallel : values.size() > parallel_work)
    for (std::size_t i = 0; i < values.size(); ++i) {
      maximum = std::max(maximum, std::abs(values[i]));
    }
    double& largest = (*ranges_)[kind];
    largest = std::max(largest, static_cast<double>(maximum));
  }

  /// Rows of `count` channels.
  void channels(const std::string& place, std::size_t block, std::span<const Real> rows, std::size_t count) const {
    fold(place, block, rows, count, count, [](std::size_t feature) { return feature; });
  }

  /// Rows of heads (key head, query head of it, half, i < m/2).
  void pairs(const std::string& place, std::size_t block, const Values& rows, std::size_t group) const {
    const std::size_t m = shape_.head_size();
    const bool of_places = shape_.head_norm && !shape_.norm_across_heads;
    const std::size_t heads = of_places ? 1 : shape_.kv_heads();
    fold(place, block, rows, shape_.key_features() * group, heads * m / 2, [&](std::size_t feature) {
      const std::size_t head = of_places ? 0 : feature / (m * group);
      return head * m / 2 + feature % (m / 2);
    });
  }

 private:
  /// channel(feature) < count says where a row's feature counts.
  void fold(const std::string& place, std::size_t block, std::span<const Real> rows, std::size_t width,
            std::size_t count, const auto& channel) const {
    if (channels_ == nullptr) {
      return;
    }
    std::vector<double>& all = (*channels_)[place];
    all.resize(std::max(all.size(), (block + 1) * count));
    const std::span<double> maxima = std::span(all).subspan(block * count, count);
    for (std::size_t begin = 0; begin < rows.size(); begin += width) {
      for (std::size_t feature = 0; feature < width; ++feature) {
        double& maximum = maxima[channel(feature)];
        maximum = std::max(maximum, static_cast<double>(std::abs(rows[begin + feature])));
      }
    }
  }

  const ModelShape& shape_;
  ActivationRanges* ranges_;
  ChannelMaxima* channels_;
};

template <class Real>
BasicCache<Real>::BasicCache(std::size_t blocks, std::size_t positions, std::size_t features)
    : capacity(positions),
      keys(blocks, std::vector<Real>(positions * features)),
      values(blocks, std::vector<Real>(positions * features)) {}

template <class Real>
BasicCache<Real>::BasicCache(const ModelShape& shape, std::size_t positions)
    : BasicCache(shape.n_layer, positions, shape.key_features()) {}

template <class Real>
BasicCache<Real> BasicCache<Real>::of_one_pass(const ModelShape& shape, std::size_t positions) {
  return {1, positions, shape.key_features()};
}

template <class Real>
BasicTransformer<Real>::BasicTransformer(const FloatModel& model)
    : BasicTransformer(std::shared_ptr<const FloatModel>(std::shared_ptr<void>(), &model)) {}

template <class Real>
BasicTransformer<Real>::BasicTransformer(FloatModel&& model)
    : BasicTransformer(std::make_shared<const FloatModel>(std::move(model))) {}

template <class Real>
BasicTransformer<Real>::BasicTransformer(std::shared_ptr<const FloatModel> model)
    : shape_(model->shape),
      epsilon_(model->layer_norm_epsilon),
      activation_(model->activation),
      caps_(model->caps),
      model_(std::move(model)) {
  for (const ParameterRow& row : parameter_table(shape_)) {
    const double factor = 1.0 / model_->divisor(row);
    factors_[row.id] = factor;
    if (row.columns == ParameterAxis::none) {
      const std::span<const float> values = model_->parameters[row.id].values();
      const std::size_t blocks = row.extents(shape_).blocks;  // a model may have none
      for (std::size_t block = 0; block < blocks; ++block) {
        const double of_block = factor * model_->factors.of_block(row.id, block);
        for (const float value : values.subspan(block * (values.size() / blocks), values.size() / blocks)) {
          vectors_[row.id].push_back(static_cast<Real>(value * of_block));
        }
      }
    }
  }
  for (const Rope& rope : model_->ropes) {
    const std::vector<double> turns = rotary_values(rope, shape_);
    rotary_.emplace_back(turns.begin(), turns.end());
  }
}

template <class Real>
std::span<const Real> BasicTransformer<Real>::vector(ParameterId id, std::size_t block) const {
  if (vectors_[id].empty()) {
    return {};
  }
  const std::size_t size = vectors_[id].size() / parameter_row(shape_, id).extents(shape_).blocks;
  return std::span(vectors_[id]).subspan(block * size, size);
}

template <class Real>
FloatMatrix BasicTransformer<Real>::matrix(ParameterId id, std::size_t block) const {
  const std::span<const float> values = model_->parameters[id].values();
  const std::size_t size = values.size() / model_->parameters[id].extents().blocks;
  return {values.subspan(block * size, size), factors_[id] * model_->factors.of_block(id, block)};
}

template <class Real>
auto BasicTransformer<Real>::product(const Values& x, ParameterId weight, std::size_t block,
                                     std::span<const Real> bias) const -> Values {
  return linear<Real>(x, matrix(weight, block), parameter_row(shape_, weight).extents(shape_).columns, bias);
}

template <class Real>
auto BasicTransformer<Real>::norm(const Values& x, ParameterId gamma, ParameterId beta, std::size_t block) const
    -> Values {
  return shape_.rms() ? rms_norm<Real>(x, vector(gamma, block), epsilon_)
                      : layer_norm<Real>(x, vector(gamma, block), vector(beta, block), epsilon_);
}

template <class Real>
auto BasicTransformer<Real>::embed(std::span<const Cache> sequences, std::span<const std::uint32_t> tokens,
                                   std::size_t count) const -> Values {
  const std::size_t d = shape_.n_embd;
  Values x(tokens.size() * d);
  for (std::size_t row = 0; row < sequences.size() * count; ++row) {
    check_token(tokens[row], shape_.n_vocab);
    const float* const values = model_->parameters[embedding].values().data() + tokens[row] * d;
    std::transform(values, values + d, x.begin() + static_cast<std::ptrdiff_t>(row * d),
                   [factor = factors_[embedding]](float value) { return static_cast<Real>(value * factor); });
    const std::size_t place = sequences[row / count].length + row % count;
    for (std::size_t f = 0; f < (!shape_.rotary() && place < shape_.n_positions ? d : 0); ++f) {
      x[row * d + f] += model_->parameters[position].values()[place * d + f];
    }
  }
  return x;
}

template <class Real>
void BasicTransformer<Real>::rotate_rows(std::span<const Cache> sequences, std::size_t block, std::size_t count,
                                         Values& values) const {
  const Values& rotary = rotary_[shape_.rotation(block)];
  const std::size_t half = shape_.head_size() / 2;
  const std::size_t rows = sequences.size() * count;
  const Values beyond(half);  // no rotation: zeros
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t place = sequences[row / count].length + row % count;
    const auto of_place = [&](std::size_t table) {
      return place < shape_.n_positions ? std::span(rotary).subspan((table * shape_.n_positions + place) * half, half)
                                        : std::span(beyond);
    };
    const std::size_t width = values.size() / rows;
    rotate(std::span(values).subspan(row * width, width), of_place(0), of_place(1));
  }
}

template <class Real>
auto BasicTransformer<Real>::project(std::span<const Cache> sequences, std::size_t block, std::size_t count,
                                     const Values& u, const Recorder& record) const -> Projections {
  Values q = product(u, wq, block, vector(bq, block));
  Values k = product(u, wk, block, vector(bk, block));
  Values v = product(u, wv, block, vector(bv, block));
  if (shape_.head_norm) {
    record.range("hq", q);
    record.range("hk", k);
    q = rms_norm<Real>(q, vector(gamma_q, block), epsilon_);
    k = rms_norm<Real>(k, vector(gamma_k, block), epsilon_);
  }
  if (shape_.rotary()) {
    rotate_rows(sequences, block, count, q);
    rotate_rows(sequences, block, count, k);
    record.pairs("rotated_q", block, q, shape_.group());
    record.pairs("rotated_k", block, k, 1);
    record.channels("value", block, v, shape_.key_features());
  }
  record.range("q", q);
  record.range("k", k);
  record.range("v", v);
  return {std::move(q), std::move(k), std::move(v)};
}

// Per sequence and query head: scores (query, key) = Q K^T, causal soft-max, y = P V.
template <class Real>
auto BasicTransformer<Real>::attend(std::span<const Cache> sequences, std::size_t block, std::size_t count,
                                    const Values& q, const Recorder& record) const -> Values {
  const std::size_t wide = shape_.query_features();
  const std::size_t narrow = shape_.key_features();
  const std::size_t m = shape_.head_size();
  const std::size_t window = shape_.window(block);
  Values y(q.size());
  Values largest(sequences.size() * shape_.n_head);        // absolute score
  Values uncapped(caps_.scores > 0 ? largest.size() : 0);  // the same before a cap
  const std::size_t longest = sequences.empty() ? 0 : sequences.front().length + count;
  use_single_threaded_blas();
#pragma omp parallel if (q.size() * longest > parallel_products)
  {
    Values scores;
#pragma omp for schedule(dynamic)
    for (std::size_t number = 0; number < largest.size(); ++number) {
      const std::size_t s = number / shape_.n_head;
      const std::size_t head = number % shape_.n_head;
      const Cache& cache = sequences[s];
      const std::size_t shared = head / shape_.group() * m;  // columns of keys and values
      for (std::size_t first = 0; first < count; first += queries_at_once) {
        const std::size_t queries = std::min(queries_at_once, count - first);
        const std::size_t keys = cache.length + first + queries;
        scores.resize(queries * keys);
        const std::size_t rows = (s * count + first) * wide + head * m;
        multiply({true, queries, keys, m}, {q.data() + rows, wide}, {cache.keys_of(block).data() + shared, narrow},
                 {scores.data(), keys});
        for (std::size_t i = 0; i < queries; ++i) {
          const std::span<Real> row(scores.data() + i * keys, keys);
          const std::size_t last = keys - queries + i + 1;
          const std::size_t begin = window > 0 && last > window ? last - window : 0;
          const std::span<Real> seen = row.subspan(begin, last - begin);
          std::ranges::fill(row.first(begin), Real{0});
          if (!uncapped.empty()) {
            uncapped[number] = std::max(uncapped[number], largest_of<Real>(seen));
            soft_cap(seen, caps_.scores);
          }
          largest[number] = std::max(largest[number], soft_max(seen));
          std::ranges::fill(row.subspan(last), Real{0});
        }
        multiply({false, queries, m, keys}, {scores.data(), keys}, {cache.values_of(block).data() + shared, narrow},
                 {y.data() + rows, wide});
      }
    }
  }
  record.range("score", largest);
  if (!uncapped.empty()) {
    record.range("uncapped", uncapped);
  }
  record.range("y", y);
  return y;
}

template <class Real>
auto BasicTransformer<Real>::mlp(const Values& u, std::size_t block, const Recorder& record) const -> Values {
  const Values z = product(u, w1, block, vector(b1, block));
  const Values g = activation<Real>(activation_, z);
  record.range("mlp", z);
  record.range("gelu", g);
  return product(g, w2, block, vector(b2, block));
}

template <class Real>
auto BasicTransformer<Real>::gated_mlp(const Values& u, std::size_t block, const Recorder& record) const -> Values {
  const Values z = product(u, w_gate, block);
  Values t = activation<Real>(activation_, z);
  record.range("mlp", z);
  record.range("gelu", t);
  const Values up = product(u, w_up, block);
  std::ranges::transform(t, up, t.begin(), std::multiplies<>());
  record.range("product", t);
  record.channels("product", block, t, shape_.n_inner);
  return product(t, w_down, block);
}

template <class Real>
auto BasicTransformer<Real>::branch_input(const Values& x, std::size_t block, bool first, const Recorder& record) const
    -> Values {
  if (!shape_.norm_before()) {
    record.range(first ? "u1" : "u2", x);
    return x;
  }
  Values u = norm(x, first ? gamma1 : gamma2, first ? beta1 : beta2, block);
  record.range(first ? "u1" : "u2", u);
  record.channels(first ? "norm_1" : "norm_2", block, u, shape_.n_embd);
  return u;
}

template <class Real>
void BasicTransformer<Real>::add_branch(Values& x, Values change, std::size_t block, bool first,
                                        const Recorder& record) const {
  if (shape_.norm_after()) {
    record.range(first ? "ho" : "hm", change);
    change = rms_norm<Real>(change, vector(first ? gamma_o : gamma_m, block), epsilon_);
  }
  add_to(x, change);
  record.range("update", change);
  record.range("residual", x);
}

template <class Real>
void BasicTransformer<Real>::run_block(std::span<Cache> sequences, std::size_t block, std::size_t count, Values& x,
                                       const Recorder& record) const {
  const Values u1 = branch_input(x, block, true, record);
  const Branches branches = shape_.layers.branches;
  Values u2;
  if (branches != Branches::sequential) {
    u2 = branches == Branches::shared_norm ? u1 : branch_input(x, block, false, record);
  }
  const Projections of = project(sequences, block, count, u1, record);
  const std::size_t width = shape_.key_features();
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const auto begin = static_cast<std::ptrdiff_t>(s * count * width);
    const auto length = static_cast<std::ptrdiff_t>(count * width);
    const auto place = static_cast<std::ptrdiff_t>(sequences[s].length * width);
    std::copy_n(of.k.begin() + begin, length, sequences[s].keys_of(block).begin() + place);
    std::copy_n(of.v.begin() + begin, length, sequences[s].values_of(block).begin() + place);
  }
  const Values y = attend(sequences, block, count, of.q, record);
  add_branch(x, product(y, wo, block, vector(bo, block)), block, true, record);
  if (branches == Branches::sequential) {
    u2 = branch_input(x, block, false, record);
  }
  add_branch(x, shape_.gated() ? gated_mlp(u2, block, record) : mlp(u2, block, record), block, false, record);
}

template <class Real>
auto BasicTransformer<Real>::extend(std::span<Cache> sequences, std::span<const std::uint32_t> tokens,
                                    ActivationRanges* ranges, ChannelMaxima* channels) const -> Values {
  const Recorder record(shape_, ranges, channels);
  const std::size_t count = sequences.empty() ? 0 : tokens.size() / sequences.size();
  for (const Cache& cache : sequences) {
    if (cache.length + count > cache.capacity) {
      throw InputError("sequence: expected at most " + std::to_string(cache.capacity) + " tokens, found " +
                       std::to_string(cache.length + count));
    }
    if (cache.length > 0 && cache.keys.size() < shape_.n_layer) {
      throw std::logic_error("a cache of one pass is extended again");
    }
  }
  Values x = embed(sequences, tokens, count);
  record.range("residual", x);
  for (std::size_t block = 0; block < shape_.n_layer; ++block) {
    run_block(sequences, block, count, x, record);
  }
  for (Cache& cache : sequences) {
    cache.length += count;
  }
  Values uf = norm(x, gammaf, betaf, 0);
  record.range("uf", uf);
  if (!shape_.tied) {
    record.channels("norm_f", 0, uf, shape_.n_embd);
  }
  return uf;
}

template <class Real>
auto BasicTransformer<Real>::logits(std::span<const Real> hidden) const -> Values {
  Values logits = linear(hidden, matrix(shape_.tied ? embedding : head, 0), shape_.n_embd, vector(head_bias, 0));
  if (caps_.logits > 0) {
#pragma omp parallel for schedule(static) if (logits.size() > parallel_work)
    for (std::size_t first = 0; first < logits.size(); first += shape_.n_vocab) {
      soft_cap(std::span(logits).subspan(first, shape_.n_vocab), caps_.logits);
    }
  }
  return logits;
}

template struct BasicCache<float>;
template struct BasicCache<double>;
template class BasicTransformer<float>;
template class BasicTransformer<double>;

}  // namespace tessera
