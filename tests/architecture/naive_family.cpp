#include "naive_family.hpp"

#include <algorithm>
#include <bit>

#include "exact.hpp"

namespace tessera::test {
namespace {

using Row = std::vector<std::int64_t>;  // by token
using Matrix = std::vector<Row>;        // by feature
using Sums = std::vector<std::vector<Wide>>;

class Family {
 public:
  Family(const VerifyingKey& key, const Parameters& parameters, const std::vector<std::uint32_t>& ids)
      : key_(key), s_(key.shape), e_(key.exponents), p_(parameters), ids_(ids), count_(ids.size()) {}

  NaiveValues run(std::size_t first_chosen, std::size_t generated) {
    Sums embedded = sums(s_.n_embd);
    for (std::size_t f = 0; f < s_.n_embd; ++f) {
      for (std::size_t t = 0; t < count_; ++t) {
        embedded[f][t] = p_[embedding].values()[ids_[t] * s_.n_embd + f];
      }
    }
    Matrix x = rshift("", "embedding_remainder", embedded, e_[embedding] - e_[scales::residual]);
    record("excess of x_in", zeros(s_.n_embd));
    for (block_ = 0; block_ < s_.n_layer; ++block_) {
      record("x_in", x);
      const Matrix in = x;
      const Matrix u = input(x, 1);
      add(x, attended(u), true);
      record("x_mid", x);
      const Branches branches = s_.layers.branches;
      const Matrix second = branches == Branches::shared_norm ? u : input(branches == Branches::parallel ? in : x, 2);
      add(x, s_.gated() ? gated(second) : plain(second), false);
    }
    block_ = 0;
    record("x_end", x);
    const Matrix u = norm(x, "final", gammaf, betaf, e_[gammaf], e_[betaf], e_[scales::uf]);
    Sums logits = product(s_.tied ? embedding : head, u, s_.n_vocab);
    bias(s_.head_bias, logits, head_bias, e_[scales::uf] + e_[head] - e_[head_bias]);
    for (const auto& row : logits) {
      for (std::size_t g = 0; g < generated; ++g) {
        values_["logits"].push_back(static_cast<std::int64_t>(row[first_chosen + g]));
      }
    }
    return std::move(values_);
  }

 private:
  [[nodiscard]] Sums sums(std::size_t rows) const { return Sums(rows, std::vector<Wide>(count_)); }
  [[nodiscard]] Matrix zeros(std::size_t rows) const { return Matrix(rows, Row(count_)); }

  /// Behind what earlier blocks have recorded.
  void record(const std::string& name, const Matrix& rows) {
    std::vector<std::int64_t>& to = values_[name];
    for (const Row& row : rows) {
      to.insert(to.end(), row.begin(), row.end());
    }
  }

  /// Values of so many bits; what is beyond the limits is recorded.
  void limit(const std::string& list, Matrix& rows, unsigned width) {
    const std::int64_t half = std::int64_t{1} << (width - 1);
    Matrix excess = rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t t = 0; t < count_; ++t) {
        rows[i][t] = std::clamp(rows[i][t], -half, half - 1);
        excess[i][t] -= rows[i][t];
      }
    }
    record("excess of " + list, excess);
  }

  /// floor((A + 2^(S-1))/2^S); both are recorded where they have names. S = 0: A. `width`: of values that are limited.
  Matrix rshift(const std::string& name, const std::string& remainder, const Sums& a, int shift, unsigned width = 0) {
    Matrix quotient = zeros(a.size()), rest = zeros(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t t = 0; t < count_; ++t) {
        const Wide sum = a[i][t] + (shift == 0 ? 0 : Wide{1} << (shift - 1));
        quotient[i][t] = floor_div(sum, Wide{1} << shift);
        rest[i][t] = static_cast<std::int64_t>(sum - times_power(quotient[i][t], shift));
      }
    }
    if (width != 0) {
      limit(name, quotient, width);
    }
    if (!name.empty()) {
      record(name, quotient);
    }
    if (shift != 0) {
      record(remainder, rest);
    }
    return quotient;
  }

  /// W*u, of this block where there is one a block.
  [[nodiscard]] Sums product(ParameterId weight, const Matrix& u, std::size_t rows) const {
    Sums result = sums(rows);
    const auto weights = p_[weight].values().subspan(block_ * rows * u.size(), rows * u.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t f = 0; f < u.size(); ++f) {
        for (std::size_t t = 0; t < count_; ++t) {
          result[i][t] += Wide{weights[i * u.size() + f]} * u[f][t];
        }
      }
    }
    return result;
  }

  /// Where there is one.
  void bias(bool there, Sums& to, ParameterId id, int shift) const {
    for (std::size_t i = 0; there && i < to.size(); ++i) {
      for (Wide& sum : to[i]) {
        sum += times_power(p_[id].values()[block_ * to.size() + i], shift);
      }
    }
  }

  /// What a branch reads of the stream.
  Matrix input(const Matrix& x, int number) {
    const bool first = number == 1;
    const int u = first ? e_[scales::u1] : e_[scales::u2];
    if (s_.layers.norm_place != NormPlace::after) {
      return norm(x, std::to_string(number), first ? gamma1 : gamma2, first ? beta1 : beta2,
                  first ? e_[gamma1] : e_[gamma2], first ? e_[beta1] : e_[beta2], u);
    }
    Sums stream = sums(x.size());
    for (std::size_t f = 0; f < x.size(); ++f) {
      std::ranges::copy(x[f], stream[f].begin());
    }
    const std::string name = "u" + std::to_string(number);
    return rshift(name, name + "_remainder", stream, e_[scales::residual] - u, key_.widths.stream_bits);
  }

  Matrix norm(const Matrix& x, const std::string& place, ParameterId gain, ParameterId offset, int gain_exponent,
              int offset_exponent, int u_exponent) {
    const bool layer = s_.layers.norm == NormKind::layer;
    const std::string name = (layer ? "layer_norm_" : "rms_norm_") + place;
    const auto d = static_cast<std::int64_t>(x.size());
    const int exponent = 16 + static_cast<int>(key_.widths.norm_shift);
    Matrix centred = x;
    if (layer) {
      Row mu(count_);
      for (std::size_t t = 0; t < count_; ++t) {
        Wide sum = d / 2;
        for (const Row& feature : x) {
          sum += feature[t];
        }
        mu[t] = floor_div(sum, d);
        for (Row& feature : centred) {
          feature[t] -= mu[t];
        }
      }
      record(name + "/mu", {mu});
    }
    const Row inverse = inverse_root(name, centred, key_.epsilon,
                                     times_power(rounded_root(x.size()), static_cast<int>(key_.widths.norm_shift)));
    Sums result = sums(x.size());
    for (std::size_t f = 0; f < x.size(); ++f) {
      for (std::size_t t = 0; t < count_; ++t) {
        result[f][t] = Wide{centred[f][t]} * inverse[t] * p_[gain].values()[block_ * x.size() + f];
      }
    }
    bias(layer, result, offset, exponent + gain_exponent - offset_exponent);
    return rshift(name + "/u", name + "/u_remainder", result, exponent + gain_exponent - u_exponent,
                  place == "final" ? key_.widths.final_bits : 16);
  }

  /// floor(numerator/sigma), sigma of the squares of all rows.
  Row inverse_root(const std::string& name, const Matrix& rows, std::int64_t epsilon, Wide numerator) {
    Row sigma(count_), inverse(count_);
    for (std::size_t t = 0; t < count_; ++t) {
      Wide variance = epsilon;
      for (const Row& row : rows) {
        variance += Wide{row[t]} * row[t];
      }
      sigma[t] = square_root(variance);
      inverse[t] = floor_div(numerator, sigma[t]);
    }
    record(name + "/sigma", {sigma});
    record(name + "/inverse", {inverse});
    return inverse;
  }

  /// x += what a branch adds, A its last product.
  void add(Matrix& x, const Sums& a, bool attention) {
    const int exponent = attention    ? e_[wo] + e_[scales::v]
                         : s_.gated() ? e_[w_down] + e_[scales::product]
                                      : e_[w2] + e_[scales::gelu];
    const std::string name = attention ? "o" : "mlp", remainder = attention ? "o_remainder" : "mlp_out_remainder";
    Matrix update;
    if (s_.layers.norm_place == NormPlace::before) {
      update = rshift("", remainder, a, exponent - e_[scales::residual]);
    } else {
      const Matrix h = rshift(name + "_norm/h", name + "_norm/h_remainder", a,
                              exponent - (attention ? e_[scales::ho] : e_[scales::hm]), key_.widths.branch_bits);
      const Row inverse = inverse_root(name + "_norm", h, attention ? key_.epsilon_o : key_.epsilon_m,
                                       times_power(rounded_root(x.size()), 14));
      const auto high = p_[attention ? gamma_o : gamma_m].values().subspan(block_ * x.size());
      const auto low = p_[attention ? gamma_o_low : gamma_m_low].values().subspan(block_ * x.size());
      Sums scaled = sums(x.size());
      for (std::size_t f = 0; f < x.size(); ++f) {
        for (std::size_t t = 0; t < count_; ++t) {
          scaled[f][t] = Wide{h[f][t]} * inverse[t] * (512 * high[f] + low[f]);
        }
      }
      update = rshift("", remainder, scaled, 30 + (attention ? e_[gamma_o] : e_[gamma_m]) - e_[scales::residual]);
    }
    for (std::size_t f = 0; f < x.size(); ++f) {
      std::ranges::transform(x[f], update[f], x[f].begin(), std::plus());
    }
    const int bits = std::min(27, (62 - static_cast<int>(std::bit_width(x.size() - 1))) / 2 + 1);
    limit(attention ? "x_mid" : block_ + 1 == s_.n_layer ? "x_end" : "x_in", x, static_cast<unsigned>(bits));
  }

  /// Queries or keys, turned.
  Matrix turned(const Matrix& u, bool query) {
    const std::string name = query ? "q" : "k";
    const std::size_t m = s_.head_size(), heads = query ? s_.n_head : s_.kv_heads();
    const int exponent = (query ? e_[wq] : e_[wk]) + e_[scales::u1], own = query ? e_[scales::q] : e_[scales::k];
    Sums rows = product(query ? wq : wk, u, heads * m);
    bias(s_.qkv_bias, rows, query ? bq : bk, exponent - (query ? e_[bq] : e_[bk]));
    int shift = exponent + 14 - own;
    if (s_.head_norm) {
      const Matrix h = rshift(name + "_norm/h", name + "_norm/h_remainder", rows,
                              exponent - (query ? e_[scales::hq] : e_[scales::hk]), 16);
      const std::size_t together = s_.norm_across_heads ? heads * m : m;
      for (std::size_t first = 0; first < h.size(); first += together) {
        const Matrix part(h.begin() + static_cast<std::ptrdiff_t>(first),
                          h.begin() + static_cast<std::ptrdiff_t>(first + together));
        const Row inverse = inverse_root(name + "_norm", part, query ? key_.epsilon_q : key_.epsilon_k,
                                         times_power(rounded_root(together), 8));
        for (std::size_t i = 0; i < together; ++i) {
          const std::int64_t gain = p_[query ? gamma_q : gamma_k].values()[block_ * together + i];
          for (std::size_t t = 0; t < count_; ++t) {
            rows[first + i][t] = Wide{part[i][t]} * inverse[t] * gain;
          }
        }
      }
      shift = 24 + (query ? e_[gamma_q] : e_[gamma_k]) + 14 - own;
    }
    return rshift(name, name + "_remainder", rotated(rows), shift, 16);
  }

  [[nodiscard]] Sums rotated(const Sums& rows) const {
    const std::size_t m = s_.head_size(), half = m / 2, angles = s_.n_positions * half;
    const std::size_t table = s_.rotation_of_block.empty() ? 0 : s_.rotation_of_block[block_];
    Sums result = rows;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t i = row % m % half;
      for (std::size_t t = 0; t < count_; ++t) {
        const std::size_t angle = 2 * angles * table + std::min(t, s_.n_positions - 1) * half + i;
        const Wide cos = key_.rotary_table[angle], sin = key_.rotary_table[angle + angles];
        result[row][t] = row % m < half ? rows[row][t] * cos - rows[row + half][t] * sin
                                        : rows[row][t] * cos + rows[row - half][t] * sin;
      }
    }
    return result;
  }

  /// W_O*y and its bias.
  Sums attended(const Matrix& u) {
    const std::size_t m = s_.head_size();
    const Matrix q = turned(u, true), k = turned(u, false);
    Sums sum = product(wv, u, s_.kv_heads() * m);
    bias(s_.qkv_bias, sum, bv, e_[wv] + e_[scales::u1] - e_[bv]);
    const Matrix v = rshift("v", "v_remainder", sum, e_[wv] + e_[scales::u1] - e_[scales::v], 16);
    Sums y = sums(s_.n_head * m);
    for (std::size_t j = 0; j < s_.n_head; ++j) {
      attend(q, k, v, j, y);
    }
    const Matrix means = rshift("y", "y_remainder", y, 46);
    Sums result = product(wo, means, s_.n_embd);
    bias(s_.layers.bias, result, bo, e_[wo] + e_[scales::v] - e_[bo]);
    return result;
  }

  [[nodiscard]] bool visible(std::size_t i, std::size_t j) const {
    const std::size_t window = s_.window_of_block.empty() ? 0 : s_.window_of_block[block_];
    return j <= i && (window == 0 || i < j + window);
  }

  /// O*R of query head j.
  void attend(const Matrix& q, const Matrix& k, const Matrix& v, std::size_t j, Sums& y) {
    const std::size_t m = s_.head_size(), shared = j * s_.kv_heads() / s_.n_head;
    Sums products = sums(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t c = 0; c < m; ++c) {
        for (std::size_t to = 0; to < count_; ++to) {
          products[i][to] += visible(i, to) ? Wide{q[j * m + c][i]} * k[shared * m + c][to] : 0;
        }
      }
    }
    Matrix z = rshift("score", "score_remainder", products,
                      e_[scales::q] + e_[scales::k] - (s_.score_cap ? e_[scales::uncapped] : e_[scales::score]),
                      s_.score_cap ? 16 : 0);
    if (s_.score_cap) {
      for (Row& row : z) {
        std::ranges::transform(row, row.begin(), [&](std::int64_t value) {
          return key_.cap_table[static_cast<std::size_t>(value + 32768)];
        });
      }
      record("capped_score", z);
    }
    Matrix weights = zeros(count_), far = weights, value_sums = zeros(m);
    Row maxima(count_), row_sums(count_), inverses(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      maxima[i] = z[i][i];
      for (std::size_t to = 0; to <= i; ++to) {
        maxima[i] = visible(i, to) ? std::max(maxima[i], z[i][to]) : maxima[i];
      }
      for (std::size_t to = 0; to <= i; ++to) {
        const std::int64_t distance = maxima[i] - z[i][to];
        weights[i][to] = visible(i, to) && distance < 65536 ? key_.exp_table[static_cast<std::size_t>(distance)] : 0;
        row_sums[i] += weights[i][to];
        far[i][to] = visible(i, to) ? std::max<std::int64_t>(0, distance - 131071) : 0;
      }
      inverses[i] = floor_div(Wide{1} << 46, row_sums[i]);
      for (std::size_t c = 0; c < m; ++c) {
        for (std::size_t to = 0; to <= i; ++to) {
          value_sums[c][i] += weights[i][to] * v[shared * m + c][to];
        }
        y[j * m + c][i] = Wide{value_sums[c][i]} * inverses[i];
      }
    }
    record("excess of far", far);
    record("exponential", weights);
    record("row_max", {maxima});
    record("row_sum", {row_sums});
    record("row_inverse", {inverses});
    record("value_sum", value_sums);
  }

  /// W_down*t.
  Sums gated(const Matrix& u) {
    const Matrix z = rshift("gate", "gate_remainder", product(w_gate, u, s_.n_inner),
                            e_[w_gate] + e_[scales::u2] - e_[scales::mlp], key_.widths.gate_bits);
    const Sums up = product(w_up, u, s_.n_inner);
    Matrix activation = z, up_sum = z;
    Sums gating = up;
    for (std::size_t i = 0; i < s_.n_inner; ++i) {
      for (std::size_t t = 0; t < count_; ++t) {
        const std::int64_t half = std::int64_t{1} << (key_.widths.gate_bits - 1);
        activation[i][t] = key_.gelu_table[static_cast<std::size_t>(z[i][t] + half)];
        up_sum[i][t] = static_cast<std::int64_t>(up[i][t]);
        gating[i][t] *= activation[i][t];
      }
    }
    record("activation", activation);
    record("up_sum", up_sum);
    return product(w_down,
                   rshift("product", "product_remainder", gating,
                          e_[scales::gelu] + e_[w_up] + e_[scales::u2] - e_[scales::product], key_.widths.product_bits),
                   s_.n_embd);
  }

  /// W_2*g and its bias.
  Sums plain(const Matrix& u) {
    Sums sum = product(w1, u, s_.n_inner);
    bias(s_.layers.bias, sum, b1, e_[w1] + e_[scales::u2] - e_[b1]);
    Matrix g = rshift("mlp", "mlp_remainder", sum, e_[w1] + e_[scales::u2] - e_[scales::mlp], 16);
    for (Row& row : g) {
      std::ranges::transform(row, row.begin(), [&](std::int64_t value) {
        return key_.gelu_table[static_cast<std::size_t>(value + 32768)];
      });
    }
    record("gelu", g);
    Sums result = product(w2, g, s_.n_embd);
    bias(s_.layers.bias, result, b2, e_[w2] + e_[scales::gelu] - e_[b2]);
    return result;
  }

  const VerifyingKey& key_;
  const ModelShape& s_;
  const Exponents& e_;
  const Parameters& p_;
  const std::vector<std::uint32_t>& ids_;
  std::size_t count_, block_ = 0;
  NaiveValues values_;
};

}  // namespace

NaiveValues naive_family(const VerifyingKey& key, const Parameters& parameters,
                         const std::vector<std::uint32_t>& tokens, std::size_t first_chosen, std::size_t generated) {
  return Family(key, parameters, tokens).run(first_chosen, generated);
}

}  // namespace tessera::test
