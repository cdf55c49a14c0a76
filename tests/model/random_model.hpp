#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "arithmetic/rotary_table.hpp"
#include "model/equalisation.hpp"
#include "model/model.hpp"

namespace tessera::testing {

/// The model with the parameters that a rank keeps.
inline Model part_of(const Model& model, int rank, int ranks) {
  Model part = model;
  part.parameters = Parameters(model.shape, rank, {ranks, 0});
  for (const ParameterRow& row : parameter_table(model.shape)) {
    const Range held = part.parameters[row.id].held();
    for (std::size_t block = 0; block < row.extents(model.shape).blocks; ++block) {
      std::ranges::copy(model.parameters[row.id].block(block).rows(held),
                        part.parameters[row.id].block(block).rows(held).begin());
    }
  }
  return part;
}

/// The float model that is quantized to this one.
inline FloatModel float_model_of(const Model& model) {
  FloatModel result;
  result.shape = model.shape;
  result.layer_norm_epsilon = model.layer_norm_epsilon;
  result.activation = model.activation;
  result.parameters = FloatParameters(model.shape);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    const int exponent = model.exponents.*row.exponent;
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
    return shape.gpt2() ? make_gpt2(shape) : make_llama(shape, widths, residual);
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
    e.u1 = 12;
    e.u2 = 11;
    e.uf = 12;
    e.q = 12;
    e.k = 11;
    e.v = 12;
    e.score = 10;
    e.mlp = 12;
    e.gelu = 11;
    e.wq = e.w1 = 15;
    e.wk = e.wo = e.w2 = 14;
    e.wv = 13;
    e.bq = 14;
    e.bk = e.bo = 13;
    e.bv = e.b2 = 12;
    e.b1 = 15;
    e.gamma1 = 13;
    e.gamma2 = 12;
    e.gammaf = 13;
    e.beta1 = 14;
    e.beta2 = e.betaf = 13;
    return e;
  }

  static Exponents llama_exponents(const ModelShape& shape, const Widths& widths, std::int32_t residual) {
    const int finer = static_cast<int>(widths.norm_shift) - 14;
    Exponents e;
    e.residual = residual;
    e.embedding = 14;
    e.u1 = 12;
    e.u2 = 11;
    e.uf = 12 + static_cast<int>(widths.final_bits - 16) / 4;
    e.q = e.v = 12;
    e.k = 11;
    e.score = 10;
    e.mlp = 12 + static_cast<int>(widths.gate_bits - 16);
    e.gelu = widths.gate_bits > 16 ? 15 : 11;
    e.product = 10 + static_cast<int>(widths.product_bits - 16) / 2;
    e.wq = e.w_gate = 15;
    e.wk = e.wo = 14;
    e.w_down = std::min(14, 16 + residual - e.product);
    e.wv = e.w_up = 13;
    if (shape.qkv_bias) {
      e.bq = 14;
      e.bk = 13;
      e.bv = 12;
    }
    if (shape.head_norm) {
      e.hq = 11;
      e.hk = 12;
      e.gamma_q = 14;
      e.gamma_k = 12;
    }
    e.gamma1 = 13 - finer;
    e.gamma2 = 12 - finer;
    e.gammaf = 13;
    e.head = shape.tied ? 0 : 14;
    return e;
  }

 private:
  Model make_llama(const ModelShape& shape, const Widths& widths, std::int32_t residual) {
    Model model;
    model.shape = shape;
    model.activation = "silu";
    model.widths = widths;
    model.rotary_table = rotary_table({.theta = 10000}, shape.head_size() / 2, shape.n_positions);
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
      } else if (row.id == bq || row.id == bk || row.id == bv) {
        deviation = 0.2;
      } else if (row.columns == ParameterAxis::none) {  // gains
        mean = 1;
        deviation = 0.2;
      } else if (row.id == wq) {
        deviation *= 2;
      }
      const double divisor = row.folded ? root : 1;
      normal(p[row.id].values(), deviation / divisor, model.exponents.*row.exponent, mean / divisor);
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
    normal(p[embedding].values(), 0.7, e.residual);
    normal(p[position].values(), 0.3, e.residual);
    normal(p[gamma1].values(), 0.3, e.gamma1, 1.0);
    normal(p[beta1].values(), 0.2, e.beta1);
    normal(p[gamma2].values(), 0.3, e.gamma2, 1.0);
    normal(p[beta2].values(), 0.2, e.beta2);
    normal(p[gammaf].values(), 0.3, e.gammaf, 1.0);
    normal(p[betaf].values(), 0.2, e.betaf);
    normal(p[wq].values(), query_spread, e.wq);
    normal(p[wk].values(), spread, e.wk);
    normal(p[wv].values(), spread, e.wv);
    normal(p[wo].values(), spread, e.wo);
    normal(p[w1].values(), spread, e.w1);
    normal(p[w2].values(), inner_spread, e.w2);
    normal(p[bq].values(), 0.2, e.bq);
    normal(p[bk].values(), 0.2, e.bk);
    normal(p[bv].values(), 0.2, e.bv);
    normal(p[bo].values(), 0.1, e.bo);
    normal(p[b1].values(), 0.2, e.b1);
    normal(p[b2].values(), 0.1, e.b2);
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

}  // namespace tessera::testing
