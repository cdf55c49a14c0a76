#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "arithmetic/rotary_table.hpp"
#include "integer_model/equalisation.hpp"
#include "integer_model/model.hpp"

namespace tessera::test {

/// The model with the parameters that a rank keeps.
inline Model part_of(const Model& model, int rank, const Division& division) {
  Model part = model;
  part.parameters = Parameters(model.shape, rank, division);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    const Range held = part.parameters[row.id].held();
    for (std::size_t block = 0; block < row.extents(model.shape).blocks; ++block) {
      std::ranges::copy(model.parameters[row.id].block(block).rows(held),
                        part.parameters[row.id].block(block).rows(held).begin());
    }
  }
  return part;
}

inline Model part_of(const Model& model, int rank, int ranks) { return part_of(model, rank, {ranks, 0}); }

/// The float model that is quantized to this one.
inline FloatModel float_model_of(const Model& model) {
  FloatModel result;
  result.shape = model.shape;
  result.layer_norm_epsilon = model.layer_norm_epsilon;
  result.activation = model.activation;
  result.caps = model.caps;
  for (std::uint32_t rotation = 0; model.shape.rotary() && rotation < model.shape.rotations; ++rotation) {
    result.ropes.push_back({.theta = 10000.0 / (1 + 7 * rotation)});
  }
  result.parameters = FloatParameters(model.shape);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    if (piece_of(row.id)) {
      continue;
    }
    if (const auto low = low_piece(row.id)) {
      const int exponent = model.exponents[row.scale(model.shape)];
      std::ranges::transform(model.parameters[row.id].values(), model.parameters[*low].values(),
                             result.parameters[row.id].values().begin(), [&](int high, int piece) {
                               return static_cast<float>(std::ldexp(high * (1 << gain_piece_bits) + piece, -exponent));
                             });
      continue;
    }
    const int exponent = model.exponents[row.scale(model.shape)];
    std::ranges::transform(model.parameters[row.id].values(), result.parameters[row.id].values().begin(),
                           [&](std::int16_t value) {
                             return static_cast<float>(row.divisor(model.shape) * std::ldexp(value, -exponent));
                           });
  }
  return result;
}

/// A model with random parameters of ordinary size, reproducible on any machine, whose activations stay in range.
class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : engine_(seed) {}

  /// `widths` and `residual`: of the Llama family.
  Model make(const ModelShape& shape, const Widths& widths = {}, std::int32_t residual = 12) {
    return !shape.rotary() ? make_gpt2(shape) : make_llama(shape, widths, residual);
  }
  /// Widths for a shape without a norm before, or with one behind its branches.
  static Widths widths_of(const ModelShape& shape) {
    Widths widths;
    widths.branch_bits = shape.norm_after() ? 20 : 16;
    widths.stream_bits = shape.norm_before() ? 16 : 20;
    return widths;
  }

  std::vector<std::uint32_t> tokens(std::size_t count, std::size_t n_vocab) {
    std::vector<std::uint32_t> ids(count);
    for (std::uint32_t& id : ids) {
      id = static_cast<std::uint32_t>(engine_() % n_vocab);
    }
    return ids;
  }

  /// Exponents that fit these parameters; all different where they may be, so that none can be taken for another.
  static Exponents exponents() {
    Exponents e;
    e[scales::u1] = 12;
    e[scales::u2] = 11;
    e[scales::uf] = 12;
    e[scales::q] = 12;
    e[scales::k] = 11;
    e[scales::v] = 12;
    e[scales::score] = 10;
    e[scales::mlp] = 12;
    e[scales::gelu] = 11;
    e[wq] = e[w1] = 15;
    e[wk] = e[wo] = e[w2] = 14;
    e[wv] = 13;
    e[bq] = 14;
    e[bk] = e[bo] = 13;
    e[bv] = e[b2] = 12;
    e[b1] = 15;
    e[gamma1] = 13;
    e[gamma2] = 12;
    e[gammaf] = 13;
    e[beta1] = 14;
    e[beta2] = e[betaf] = 13;
    return e;
  }

  static Exponents llama_exponents(const ModelShape& shape, const Widths& widths, std::int32_t residual) {
    const int finer = static_cast<int>(widths.norm_shift) - 14;
    Exponents e;
    e[scales::residual] = residual;
    e[embedding] = 14;
    e[scales::u1] = 12;
    e[scales::u2] = 11;
    e[scales::uf] = 12 + static_cast<int>(widths.final_bits - 16) / 4;
    e[scales::q] = e[scales::v] = 12;
    e[scales::k] = 11;
    e[scales::score] = 10;
    e[scales::mlp] = 12 + static_cast<int>(widths.gate_bits - 16);
    e[scales::gelu] = widths.gate_bits > 16 ? 15 : 11;
    e[scales::product] = 10 + static_cast<int>(widths.product_bits - 16) / 2;
    e[wq] = e[w_gate] = 15;
    e[wk] = e[wo] = 14;
    e[w_down] = std::min(14, 16 + residual - e[scales::product]);
    e[wv] = e[w_up] = 13;
    if (shape.qkv_bias) {
      e[bq] = 14;
      e[bk] = 13;
      e[bv] = 12;
    }
    if (shape.head_norm) {
      e[scales::hq] = 11;
      e[scales::hk] = 12;
      e[gamma_q] = 14;
      e[gamma_k] = 12;
    }
    e[gamma1] = 13 - finer;
    e[gamma2] = 12 - finer;
    e[gammaf] = 13;
    e[head] = shape.tied ? 0 : 14;
    if (!shape.rms()) {
      e[beta1] = 14;
      e[beta2] = e[betaf] = 13;
    }
    if (!shape.gated()) {
      e[w1] = 15;
      e[w2] = 14;
    }
    if (shape.layers.bias) {
      e[bo] = 13;
      e[b1] = 15;
      e[b2] = 12;
    }
    e[head_bias] = shape.head_bias ? 13 : 0;
    e[scales::uncapped] = shape.score_cap ? 11 : 0;
    if (shape.norm_after()) {
      e[scales::ho] = 13;
      e[scales::hm] = 12;
      e[gamma_o] = 12;
      e[gamma_m] = 13;
    }
    if (!shape.norm_before()) {
      e[scales::u1] = 11;
      e[scales::u2] = 10;
    }
    if (shape.norm_after() || !shape.rms()) {  // values are larger than Llama's here
      e[scales::v] = 11;
      e[scales::hq] = e[scales::hk] = shape.norm_before() ? 11 : 10;
      e[scales::mlp] = shape.gated() ? 10 : 11;
      e[scales::gelu] = 10;
      e[scales::product] = 8;
    }
    complete(shape, e);
    return e;
  }

 private:
  Model make_llama(const ModelShape& shape, const Widths& widths, std::int32_t residual) {
    Model model;
    model.shape = shape;
    model.activation = shape.gated() ? ActivationKind::silu : ActivationKind::gelu;
    model.widths = widths;
    model.caps = {shape.score_cap ? 4.0 : 0.0, shape.logit_cap ? 3.0 : 0.0};  // of about the size of what they cap
    for (std::uint32_t rotation = 0; rotation < shape.rotations; ++rotation) {
      const std::vector<std::int16_t> table =
          rotary_table({.theta = 10000.0 / (1 + 7 * rotation)}, shape.head_size() / 2, shape.n_positions);
      model.rotary_table.insert(model.rotary_table.end(), table.begin(), table.end());
    }
    model.equalisation = no_equalisation(shape);
    model.exponents = llama_exponents(shape, widths, residual);
    const double root = std::sqrt(static_cast<double>(shape.head_size()));
    Parameters& p = model.parameters = Parameters(shape);
    for (const ParameterRow& row : parameter_table(shape)) {
      const double inputs = std::sqrt(static_cast<double>(axis_length(row.columns, shape)));
      double mean = 0;
      double deviation = 1.0 / inputs;
      if (row.id == embedding) {
        deviation = 0.3;
      } else if (row.columns == ParameterAxis::none && row.synthetic.mean == 0) {  // biases
        deviation = 0.2;
      } else if (row.columns == ParameterAxis::none) {  // gains
        mean = 1;
        deviation = 0.2;
      } else if (row.id == wq) {
        deviation *= 2;
      }
      const double divisor = row.folded ? root : 1;
      int exponent = model.exponents[row.scale(model.shape)];
      if (piece_of(row.id)) {
        exponent = gain_piece_bits;
        deviation = 0.1;
      } else if (low_piece(row.id)) {
        exponent -= gain_piece_bits;
      }
      normal(p[row.id].values(), deviation / divisor, exponent, mean / divisor);
    }
    return model;
  }

  Model make_gpt2(const ModelShape& shape) {
    Model model;
    model.shape = shape;
    model.exponents = exponents();
    const Exponents& e = model.exponents;
    const double spread = 1.0 / std::sqrt(static_cast<double>(shape.n_embd));
    const double inner_spread = 1.0 / std::sqrt(static_cast<double>(shape.n_inner));
    const double query_spread = 2.0 * spread / std::sqrt(static_cast<double>(shape.head_size()));
    Parameters& p = model.parameters = Parameters(shape);
    normal(p[embedding].values(), 0.7, e[scales::residual]);
    normal(p[position].values(), 0.3, e[scales::residual]);
    normal(p[gamma1].values(), 0.3, e[gamma1], 1.0);
    normal(p[beta1].values(), 0.2, e[beta1]);
    normal(p[gamma2].values(), 0.3, e[gamma2], 1.0);
    normal(p[beta2].values(), 0.2, e[beta2]);
    normal(p[gammaf].values(), 0.3, e[gammaf], 1.0);
    normal(p[betaf].values(), 0.2, e[betaf]);
    normal(p[wq].values(), query_spread, e[wq]);
    normal(p[wk].values(), spread, e[wk]);
    normal(p[wv].values(), spread, e[wv]);
    normal(p[wo].values(), spread, e[wo]);
    normal(p[w1].values(), spread, e[w1]);
    normal(p[w2].values(), inner_spread, e[w2]);
    normal(p[bq].values(), 0.2, e[bq]);
    normal(p[bk].values(), 0.2, e[bk]);
    normal(p[bv].values(), 0.2, e[bv]);
    normal(p[bo].values(), 0.1, e[bo]);
    normal(p[b1].values(), 0.2, e[b1]);
    normal(p[b2].values(), 0.1, e[b2]);
    return model;
  }

  /// Sums of uniform numbers, near enough to normal and without library functions that differ between machines.
  void normal(std::span<std::int16_t> values, double deviation, int exponent, double mean = 0.0) {
    for (std::int16_t& value : values) {
      double sum = -6.0;
      for (int i = 0; i < 12; ++i) {
        sum += static_cast<double>(engine_() >> 11) * 0x1p-53;
      }
      const double scaled = std::ldexp(mean + deviation * sum, exponent);
      value = static_cast<std::int16_t>(std::clamp(std::floor(scaled + 0.5), -32768.0, 32767.0));
    }
  }

  std::mt19937_64 engine_;
};

}  // namespace tessera::test
