#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include "base/errors.hpp"
#include "model/float_model.hpp"

namespace tessera {
namespace {

int blas_int(std::size_t value) { return static_cast<int>(value); }

/// Y (rows, out) = X (rows, in) * W^T + bias, W (out, in).
std::vector<double> linear(std::span<const double> x, std::span<const double> weight, std::span<const double> bias) {
  const std::size_t out = bias.size();
  const std::size_t in = weight.size() / out;
  const std::size_t rows = x.size() / in;
  std::vector<double> y(rows * out);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy(bias.begin(), bias.end(), y.begin() + static_cast<std::ptrdiff_t>(row * out));
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(rows), blas_int(out), blas_int(in), 1.0, x.data(),
              blas_int(in), weight.data(), blas_int(in), 1.0, y.data(), blas_int(out));
  return y;
}

std::vector<double> layer_norm(std::span<const double> x, std::span<const double> gamma, std::span<const double> beta,
                               double epsilon) {
  const std::size_t d = gamma.size();
  std::vector<double> u(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += d) {
    const std::span<const double> row = x.subspan(begin, d);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(d);
    double variance = 0;
    for (const double value : row) {
      variance += (value - mean) * (value - mean);
    }
    const double inverse = 1.0 / std::sqrt(variance / static_cast<double>(d) + epsilon);
    for (std::size_t f = 0; f < d; ++f) {
      u[begin + f] = (row[f] - mean) * inverse * gamma[f] + beta[f];
    }
  }
  return u;
}

std::vector<double> gelu(const std::vector<double>& z) {
  const double root = std::sqrt(2.0 / std::acos(-1.0));
  std::vector<double> g(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    g[i] = 0.5 * z[i] * (1.0 + std::tanh(root * (z[i] + 0.044715 * z[i] * z[i] * z[i])));
  }
  return g;
}

void add_to(std::vector<double>& x, const std::vector<double>& update) {
  cblas_daxpy(blas_int(x.size()), 1.0, update.data(), 1, x.data(), 1);
}

void observe(ActivationRanges* ranges, const std::string& kind, std::span<const double> values) {
  if (ranges == nullptr) {
    return;
  }
  double& maximum = (*ranges)[kind];
  for (const double value : values) {
    maximum = std::max(maximum, std::abs(value));
  }
}

}  // namespace

KeyValueCache::KeyValueCache(const ModelShape& shape, std::size_t positions)
    : capacity(positions),
      keys(shape.n_layer, std::vector<double>(positions * shape.n_embd)),
      values(shape.n_layer, std::vector<double>(positions * shape.n_embd)) {}

FloatTransformer::FloatTransformer(const FloatModel& model) : shape_(model.shape), epsilon_(model.layer_norm_epsilon) {
  for (const ParameterRow& row : parameter_table()) {
    const std::span<const float> values = model.parameters[row.id].values();
    const double factor = 1.0 / row.divisor(shape_);
    parameters_[row.id].resize(values.size());
    std::ranges::transform(values, parameters_[row.id].begin(), [factor](float value) { return value * factor; });
  }
}

std::span<const double> FloatTransformer::parameter(ParameterId id, std::size_t block) const {
  const std::size_t size = parameters_[id].size() / parameter_table()[id].extents(shape_).blocks;
  return std::span(parameters_[id]).subspan(block * size, size);
}

// Per sequence and head: scores (query, key) = Q K^T, causal soft-max, y = P V.
void FloatTransformer::attend(std::span<KeyValueCache> sequences, std::size_t block, std::size_t count,
                              std::span<const double> q, std::vector<double>& y, ActivationRanges* ranges) const {
  const std::size_t d = shape_.n_embd;
  const std::size_t m = shape_.head_size();
  std::vector<double> scores;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const KeyValueCache& cache = sequences[s];
    const std::size_t past = cache.length;
    const std::size_t keys = past + count;
    scores.resize(count * keys);
    for (std::size_t head = 0; head < shape_.n_head; ++head) {
      const std::size_t rows = s * count * d + head * m;
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(count), blas_int(keys), blas_int(m), 1.0,
                  q.data() + rows, blas_int(d), cache.keys[block].data() + head * m, blas_int(d), 0.0, scores.data(),
                  blas_int(keys));
      for (std::size_t i = 0; i < count; ++i) {
        const std::span<double> row(scores.data() + i * keys, keys);
        const std::span<double> seen = row.first(past + i + 1);
        observe(ranges, "score", seen);
        const double maximum = *std::max_element(seen.begin(), seen.end());
        double sum = 0;
        for (double& value : seen) {
          value = std::exp(value - maximum);
          sum += value;
        }
        cblas_dscal(blas_int(seen.size()), 1.0 / sum, seen.data(), 1);
        std::fill(row.begin() + static_cast<std::ptrdiff_t>(seen.size()), row.end(), 0.0);
      }
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_int(count), blas_int(m), blas_int(keys), 1.0,
                  scores.data(), blas_int(keys), cache.values[block].data() + head * m, blas_int(d), 0.0,
                  y.data() + rows, blas_int(d));
    }
  }
}

void FloatTransformer::run_block(std::span<KeyValueCache> sequences, std::size_t block, std::size_t count,
                                 std::vector<double>& x, ActivationRanges* ranges) const {
  const auto p = [&](ParameterId id) { return parameter(id, block); };
  const std::size_t d = shape_.n_embd;
  const std::vector<double> u1 = layer_norm(x, p(gamma1), p(beta1), epsilon_);
  const std::vector<double> q = linear(u1, p(wq), p(bq));
  const std::vector<double> k = linear(u1, p(wk), p(bk));
  const std::vector<double> v = linear(u1, p(wv), p(bv));
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const auto begin = static_cast<std::ptrdiff_t>(s * count * d);
    const auto length = static_cast<std::ptrdiff_t>(count * d);
    const auto place = static_cast<std::ptrdiff_t>(sequences[s].length * d);
    std::copy_n(k.begin() + begin, length, sequences[s].keys[block].begin() + place);
    std::copy_n(v.begin() + begin, length, sequences[s].values[block].begin() + place);
  }
  std::vector<double> y(x.size());
  attend(sequences, block, count, q, y, ranges);
  const std::vector<double> attention_update = linear(y, p(wo), p(bo));
  add_to(x, attention_update);
  observe(ranges, "residual", x);

  const std::vector<double> u2 = layer_norm(x, p(gamma2), p(beta2), epsilon_);
  const std::vector<double> z = linear(u2, p(w1), p(b1));
  const std::vector<double> g = gelu(z);
  const std::vector<double> mlp_update = linear(g, p(w2), p(b2));
  add_to(x, mlp_update);
  observe(ranges, "residual", x);

  observe(ranges, "u1", u1);
  observe(ranges, "q", q);
  observe(ranges, "k", k);
  observe(ranges, "v", v);
  observe(ranges, "y", y);
  observe(ranges, "u2", u2);
  observe(ranges, "mlp", z);
  observe(ranges, "gelu", g);
  observe(ranges, "update", attention_update);
  observe(ranges, "update", mlp_update);
}

std::vector<double> FloatTransformer::extend(std::span<KeyValueCache> sequences, std::span<const std::uint32_t> tokens,
                                             ActivationRanges* ranges) const {
  const std::size_t d = shape_.n_embd;
  const std::size_t count = sequences.empty() ? 0 : tokens.size() / sequences.size();
  std::vector<double> x(tokens.size() * d);
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    if (sequences[s].length + count > sequences[s].capacity) {
      throw InputError("sequence: expected at most " + std::to_string(sequences[s].capacity) + " tokens, found " +
                       std::to_string(sequences[s].length + count));
    }
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t token = tokens[s * count + t];
      const std::size_t place = sequences[s].length + t;
      check_token(tokens[s * count + t], shape_.n_vocab);
      for (std::size_t f = 0; f < d; ++f) {
        x[(s * count + t) * d + f] = parameters_[embedding][token * d + f] +
                                     (place < shape_.n_positions ? parameters_[position][place * d + f] : 0.0);
      }
    }
  }
  observe(ranges, "residual", x);
  for (std::size_t block = 0; block < shape_.n_layer; ++block) {
    run_block(sequences, block, count, x, ranges);
  }
  for (KeyValueCache& cache : sequences) {
    cache.length += count;
  }
  std::vector<double> uf = layer_norm(x, parameters_[gammaf], parameters_[betaf], epsilon_);
  observe(ranges, "uf", uf);
  return uf;
}

std::vector<double> FloatTransformer::logits(std::span<const double> hidden) const {
  return linear(hidden, parameters_[embedding], std::vector<double>(shape_.n_vocab));
}

}  // namespace tessera
