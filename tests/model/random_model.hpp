#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "model/model.hpp"

namespace tessera::testing {

/// A model with random parameters of ordinary size, reproducible on any machine, whose activations stay in range.
class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : engine_(seed) {}

  Model make(const ModelShape& shape) {
    Model model;
    model.shape = shape;
    model.exponents = exponents();
    const Exponents& e = model.exponents;
    const std::size_t vectors = shape.n_layer * shape.n_embd;
    const double spread = 1.0 / std::sqrt(static_cast<double>(shape.n_embd));
    const double inner_spread = 1.0 / std::sqrt(static_cast<double>(shape.n_inner));
    const double query_spread = 2.0 * spread / std::sqrt(static_cast<double>(shape.head_size()));
    Parameters& p = model.parameters;
    p.embedding = normal(shape.n_vocab * shape.n_embd, 0.7, e.residual);
    p.position = normal(shape.n_positions * shape.n_embd, 0.3, e.residual);
    p.gamma1 = normal(vectors, 0.3, e.gamma1, 1.0);
    p.beta1 = normal(vectors, 0.2, e.beta1);
    p.gamma2 = normal(vectors, 0.3, e.gamma2, 1.0);
    p.beta2 = normal(vectors, 0.2, e.beta2);
    p.gammaf = normal(shape.n_embd, 0.3, e.gammaf, 1.0);
    p.betaf = normal(shape.n_embd, 0.2, e.betaf);
    p.wq = normal(vectors * shape.n_embd, query_spread, e.wq);
    p.wk = normal(vectors * shape.n_embd, spread, e.wk);
    p.wv = normal(vectors * shape.n_embd, spread, e.wv);
    p.wo = normal(vectors * shape.n_embd, spread, e.wo);
    p.w1 = normal(vectors * shape.n_inner, spread, e.w1);
    p.w2 = normal(vectors * shape.n_inner, inner_spread, e.w2);
    p.bq = normal(vectors, 0.2, e.bq);
    p.bk = normal(vectors, 0.2, e.bk);
    p.bv = normal(vectors, 0.2, e.bv);
    p.bo = normal(vectors, 0.1, e.bo);
    p.b1 = normal(shape.n_layer * shape.n_inner, 0.2, e.b1);
    p.b2 = normal(vectors, 0.1, e.b2);
    return model;
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

 private:
  /// Sums of uniform numbers, near enough to normal and without library functions that differ between machines.
  Parameters::Tensor normal(std::size_t count, double deviation, int exponent, double mean = 0.0) {
    Parameters::Tensor values(count);
    for (std::int16_t& value : values) {
      double sum = -6.0;
      for (int i = 0; i < 12; ++i) {
        sum += static_cast<double>(engine_() >> 11) * 0x1p-53;
      }
      const double scaled = std::ldexp(mean + deviation * sum, exponent);
      value = static_cast<std::int16_t>(std::clamp(std::floor(scaled + 0.5), -32768.0, 32767.0));
    }
    return values;
  }

  std::mt19937_64 engine_;
};

}  // namespace tessera::testing
