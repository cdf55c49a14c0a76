#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace tessera::testing {

using Wide = __int128;
using Matrix = std::vector<std::vector<std::int64_t>>;  // [row][token]
using Tensors = std::map<std::string, Matrix>;

/// The integer transformer straight from its formulas: scalars, one token and one feature at a time, everything square.
/// Shares no code with the library but the shapes of parameters and the exponents.
struct NaiveInference {
  std::vector<Tensors> blocks;
  Tensors last;  // x, final layer norm, logits
  std::vector<std::int64_t> exp_table = std::vector<std::int64_t>(1 << 17);
  std::vector<std::int64_t> gelu_table = std::vector<std::int64_t>(1 << 16);

  NaiveInference(const Model& model, std::span<const std::uint32_t> tokens) : model_(model), tokens_(tokens.size()) {
    make_tables();
    const ModelShape& s = model.shape;
    const Parameters& p = model.parameters;
    const Exponents& e = model.exponents;
    Matrix x(s.n_embd, std::vector<std::int64_t>(tokens_));
    for (std::size_t f = 0; f < s.n_embd; ++f) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        x[f][t] = p[embedding].values()[tokens[t] * s.n_embd + f] +
                  (t < s.n_positions ? p[position].values()[t * s.n_embd + f] : 0);
      }
    }
    for (std::size_t b = 0; b < s.n_layer; ++b) {
      Tensors& here = blocks.emplace_back();
      here["x_in"] = x;
      const Matrix u1 =
          norm(here, "1", x, p[gamma1].values(), p[beta1].values(), b, 30 + e.gamma1 - e.u1, 30 + e.gamma1 - e.beta1);
      linear(here, "q", u1, p[wq].values(), p[bq].values(), b, e.wq + e.u1 - e.q, e.wq + e.u1 - e.bq);
      linear(here, "k", u1, p[wk].values(), p[bk].values(), b, e.wk + e.u1 - e.k, e.wk + e.u1 - e.bk);
      linear(here, "v", u1, p[wv].values(), p[bv].values(), b, e.wv + e.u1 - e.v, e.wv + e.u1 - e.bv);
      attention(here, e.q + e.k - e.score);
      linear(here, "o", here["y"], p[wo].values(), p[bo].values(), b, e.wo + e.v - e.residual, e.wo + e.v - e.bo);
      add(x, here["o"]);
      here["x_mid"] = x;
      const Matrix u2 =
          norm(here, "2", x, p[gamma2].values(), p[beta2].values(), b, 30 + e.gamma2 - e.u2, 30 + e.gamma2 - e.beta2);
      linear(here, "mlp", u2, p[w1].values(), p[b1].values(), b, e.w1 + e.u2 - e.mlp, e.w1 + e.u2 - e.b1);
      here["gelu"] = here["mlp"];
      for (auto& row : here["gelu"]) {
        for (std::int64_t& z : row) {
          z = gelu_table.at(static_cast<std::size_t>(z + 32768));
        }
      }
      linear(here, "mlp_out", here["gelu"], p[w2].values(), p[b2].values(), b, e.w2 + e.gelu - e.residual,
             e.w2 + e.gelu - e.b2);
      add(x, here["mlp_out"]);
    }
    last["x_end"] = x;
    const Matrix u =
        norm(last, "f", x, p[gammaf].values(), p[betaf].values(), 0, 30 + e.gammaf - e.uf, 30 + e.gammaf - e.betaf);
    Matrix& logits = last["logits"] = Matrix(s.n_vocab, std::vector<std::int64_t>(tokens_));
    for (std::size_t v = 0; v < s.n_vocab; ++v) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        for (std::size_t f = 0; f < s.n_embd; ++f) {
          logits[v][t] += std::int64_t{p[embedding].values()[v * s.n_embd + f]} * u[f][t];
        }
      }
    }
  }

  /// The lowest id with the largest logit of position t.
  [[nodiscard]] std::uint32_t argmax(std::size_t t) const {
    const Matrix& logits = last.at("logits");
    std::size_t best = 0;
    for (std::size_t v = 1; v < logits.size(); ++v) {
      best = logits[v][t] > logits[best][t] ? v : best;
    }
    return static_cast<std::uint32_t>(best);
  }

 private:
  static std::int64_t floor_div(Wide a, Wide b) {
    Wide quotient = a / b;
    while (quotient * b > a) {
      --quotient;
    }
    return static_cast<std::int64_t>(quotient);
  }

  static void rshift(Wide a, int shift, std::int64_t& quotient, std::int64_t& remainder) {
    const Wide sum = a + (Wide{1} << (shift - 1));
    quotient = floor_div(sum, Wide{1} << shift);
    remainder = static_cast<std::int64_t>(sum - Wide{quotient} * (Wide{1} << shift));
  }

  static std::int64_t square_root(Wide value) {
    std::int64_t low = 0;
    std::int64_t high = std::int64_t{1} << 32;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (Wide{middle} * middle <= value ? low : high) = middle;
    }
    return low;
  }

  static unsigned kappa_of(std::size_t n_positions) {
    unsigned bits = 0;
    while ((std::size_t{1} << bits) < n_positions) {
      ++bits;
    }
    return bits + 1;
  }

  void make_tables() {
    const Exponents& e = model_.exponents;
    const std::int64_t unit = std::int64_t{1} << kappa_of(model_.shape.n_positions);
    for (std::size_t d = 0; d < (1 << 16); ++d) {
      const double real = 32768.0 * std::exp(-static_cast<double>(d) / std::pow(2.0, e.score));
      exp_table[d] = unit * static_cast<std::int64_t>(std::floor(real + 0.5)) + (d == 0 ? 1 : 0);
    }
    for (std::int64_t z = -32768; z < 32768; ++z) {
      const double x = static_cast<double>(z) / std::pow(2.0, e.mlp);
      const double argument = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      const double g = 0.5 * x * (1.0 + std::tanh(argument));
      // a real value is below x: never round a float64 x up at a tie
      const double scaled = g * std::pow(2.0, e.gelu) - (z > 0 ? 1e-7 : 0.0);
      gelu_table[static_cast<std::size_t>(z + 32768)] = static_cast<std::int64_t>(std::floor(scaled + 0.5));
    }
  }

  void add(Matrix& x, const Matrix& update) const {
    for (std::size_t f = 0; f < x.size(); ++f) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        x[f][t] += update[f][t];
      }
    }
  }

  Matrix norm(Tensors& to, const std::string& name, const Matrix& x, std::span<const std::int16_t> gamma,
              std::span<const std::int16_t> beta, std::size_t block, int shift, int bias_shift) const {
    const auto d = static_cast<std::int64_t>(model_.shape.n_embd);
    const auto epsilon =
        std::max<std::int64_t>(1, std::llround(static_cast<double>(d) * model_.layer_norm_epsilon * 16777216.0));
    const std::int64_t numerator = std::llround(std::sqrt(static_cast<double>(d)) * 65536.0) * 16384;
    Matrix mu(1, std::vector<std::int64_t>(tokens_)), sigma = mu, inverse = mu;
    Matrix u(x.size(), std::vector<std::int64_t>(tokens_)), remainder = u;
    for (std::size_t t = 0; t < tokens_; ++t) {
      Wide s1 = 0, s2 = 0;
      for (const auto& row : x) {
        s1 += row[t];
        s2 += Wide{row[t]} * row[t];
      }
      mu[0][t] = floor_div(s1 + d / 2, d);
      sigma[0][t] = square_root(s2 - 2 * mu[0][t] * s1 + Wide{d} * mu[0][t] * mu[0][t] + epsilon);
      inverse[0][t] = floor_div(numerator, sigma[0][t]);
      for (std::size_t f = 0; f < x.size(); ++f) {
        const std::size_t at = block * x.size() + f;
        const Wide value =
            Wide{x[f][t] - mu[0][t]} * inverse[0][t] * gamma[at] + Wide{beta[at]} * (Wide{1} << bias_shift);
        rshift(value, shift, u[f][t], remainder[f][t]);
      }
    }
    to["mu" + name] = mu;
    to["sigma" + name] = sigma;
    to["inverse" + name] = inverse;
    to["u" + name] = u;
    to["u_remainder" + name] = remainder;
    return u;
  }

  void linear(Tensors& to, const std::string& name, const Matrix& input, std::span<const std::int16_t> weights,
              std::span<const std::int16_t> bias, std::size_t block, int shift, int bias_shift) const {
    const std::size_t out = bias.size() / model_.shape.n_layer;
    const std::size_t in = input.size();
    Matrix y(out, std::vector<std::int64_t>(tokens_)), remainder = y;
    for (std::size_t o = 0; o < out; ++o) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        Wide sum = Wide{bias[block * out + o]} * (Wide{1} << bias_shift);
        for (std::size_t i = 0; i < in; ++i) {
          sum += Wide{weights[(block * out + o) * in + i]} * input[i][t];
        }
        rshift(sum, shift, y[o][t], remainder[o][t]);
      }
    }
    to[name] = y;
    to[name + "_remainder"] = remainder;
  }

  /// Rows of score tensors: head*tokens + query, columns keys. Rows of O and y: features.
  void attention(Tensors& to, int shift) const {
    const std::size_t heads = model_.shape.n_head;
    const std::size_t m = model_.shape.head_size();
    const Matrix &q = to["q"], &k = to["k"], &v = to["v"];
    const std::vector<std::int64_t> zeros(tokens_);
    Matrix z(heads * tokens_, zeros), z_remainder = z, e = z;
    Matrix row_max(heads, zeros), row_sum = row_max, row_inverse = row_max;
    Matrix o(heads * m, zeros), y = o, y_remainder = o;
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < tokens_; ++i) {
        const std::size_t row = h * tokens_ + i;
        for (std::size_t j = 0; j < tokens_; ++j) {
          Wide product = 0;
          for (std::size_t c = h * m; c < (h + 1) * m; ++c) {
            product += Wide{q[c][i]} * k[c][j];
          }
          rshift(j <= i ? product : 0, shift, z[row][j], z_remainder[row][j]);
        }
        row_max[h][i] = *std::max_element(z[row].begin(), z[row].begin() + static_cast<std::ptrdiff_t>(i) + 1);
        for (std::size_t j = 0; j < tokens_; ++j) {
          const std::int64_t d = row_max[h][i] - z[row][j] + (j <= i ? 0 : 65536 + 32768);
          e[row][j] = exp_table.at(static_cast<std::size_t>(d));
          row_sum[h][i] += e[row][j];
        }
        row_inverse[h][i] = floor_div(Wide{1} << 46, row_sum[h][i]);
        for (std::size_t c = h * m; c < (h + 1) * m; ++c) {
          for (std::size_t j = 0; j < tokens_; ++j) {
            o[c][i] += e[row][j] * v[c][j];
          }
          rshift(Wide{o[c][i]} * row_inverse[h][i], 46, y[c][i], y_remainder[c][i]);
        }
      }
    }
    to["score"] = z;
    to["score_remainder"] = z_remainder;
    to["exponential"] = e;
    to["row_max"] = row_max;
    to["row_sum"] = row_sum;
    to["row_inverse"] = row_inverse;
    to["value_sum"] = o;
    to["y"] = y;
    to["y_remainder"] = y_remainder;
  }

  const Model& model_;
  std::size_t tokens_;
};

}  // namespace tessera::testing
