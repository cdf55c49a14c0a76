#include "integer_model/bounds.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr double int16_limit = BoundList::int16_limit;
// |a*cos - b*sin| for |a|, |b| <= 1 at the exponent of cos and sin: each at most 2^14
constexpr double rotation = 0x1p15;

double pow2(int exponent) { return BoundList::pow2(exponent); }

/// The bounds of one model, layer by layer.
class ModelBounds {
 public:
  ModelBounds(const ModelShape& shape, const IntegerConstants& constants, const ModelConstants& chosen,
              const Exponents& exponents, const ParameterMaxima& maxima)
      : bounds_(shape, constants, exponents, chosen.widths, maxima),
        shape_(shape),
        constants_(constants),
        chosen_(chosen),
        x_(exponents),
        shifts_(bounds_.shifts()),
        read_(shape.norm_before() ? int16_limit : pow2(static_cast<int>(chosen.widths.stream_bits) - 1)) {}

  std::vector<Bound> all() && {
    bounds_.context();
    add_embedding();
    add_norms();
    add_queries_and_keys();
    bounds_.shift("v", bounds_.product("v", shape_.n_embd, read_, wv, biased(shape_.qkv_bias, bv)), shifts_.of(wv),
                  int16_limit);
    bounds_.scores();
    if (shape_.score_cap) {
      bounds_.add("capped scores", chosen_.score_cap * pow2(x_[scales::score]),
                  pow2(static_cast<int>(capped_score_bits) - 1) - 1);
    }
    bounds_.softmax();
    const double bias = biased(shape_.layers.bias, bo);
    add_update("attention", bounds_.product("attention update", shape_.query_features(), int16_limit, wo, bias),
               shifts_.of(wo), gamma_o, chosen_.epsilon_o);
    shape_.gated() ? add_gated_mlp() : add_plain_mlp();
    add_logits();
    return bounds_.take();
  }

 private:
  /// The largest value of a bias that a model may have, shifted.
  [[nodiscard]] double biased(bool has, ParameterId bias) const {
    return has ? bounds_.maximum(bias) * pow2(shifts_.of_bias(bias)) : 0;
  }

  void add_embedding() {
    const double residual = bounds_.residual();
    if (!shape_.rotary()) {
      bounds_.add("embedding + position", bounds_.maximum(embedding) + bounds_.maximum(position), residual - 1);
      return;
    }
    const int shift = shifts_.of(embedding);
    if (shift > 0) {
      bounds_.shift("embedding", bounds_.maximum(embedding), shift, residual);
    }
    bounds_.add("embedding", bounds_.maximum(embedding) * pow2(-shift) + 1, residual - 1);
  }

  /// |x - mu| <= sigma, and |x| <= sigma without a mean.
  void add_norm(const std::string& name, ParameterId gamma, ParameterId beta, unsigned bits) {
    const double accumulator =
        static_cast<double>(constants_.norm_numerator) * bounds_.maximum(gamma) + biased(!shape_.rms(), beta);
    bounds_.shift(name, accumulator, shifts_.of(gamma), pow2(static_cast<int>(bits) - 1));
  }

  void add_norms() {
    const auto d = static_cast<double>(shape_.n_embd);
    bounds_.norms(shape_.rms() ? "RMS norm" : "layer norm", shape_.rms() ? 0 : d * bounds_.residual() + d);
    if (!shape_.norm_before()) {
      bounds_.shift("u1", bounds_.residual(), shifts_.to(scales::u1), read_);
      bounds_.shift("u2", bounds_.residual(), shifts_.to(scales::u2), read_);
    } else {
      add_norm("u1", gamma1, beta1, 16);
    }
    if (shape_.second_norm()) {
      add_norm("u2", gamma2, beta2, 16);
    }
    add_norm("uf", gammaf, betaf, chosen_.widths.final_bits);
  }

  /// Queries or keys: what is rotated is the product's accumulator, or what a norm makes of its rshift.
  struct Rotated {
    std::string name;
    ParameterId weight, bias, gamma;
    HeadNormOf of;
    ScaleId norm_input, made;
    std::int64_t epsilon;
  };

  void add_rotated(const Rotated& r) {
    double made = bounds_.product(r.name, shape_.n_embd, read_, r.weight, biased(shape_.qkv_bias, r.bias));
    if (!shape_.rotary()) {
      bounds_.shift(r.name, made, shifts_.to(r.made), int16_limit);
      return;
    }
    if (shape_.head_norm) {
      const std::string norm = r.name + " norm";
      bounds_.shift(norm + " input", made, shifts_.to(r.norm_input), int16_limit);
      bounds_.root(norm, static_cast<double>(head_norm_features(shape_, r.of)) * 0x1p30, r.epsilon,
                   head_inverse_bits(shape_, r.of, r.epsilon));
      // |h| <= sigma
      made = static_cast<double>(head_norm_numerator(shape_, r.of)) * bounds_.maximum(r.gamma);
    }
    bounds_.shift(r.name + " rotated", made * rotation, shifts_.to(r.made), int16_limit);
  }

  void add_queries_and_keys() {
    add_rotated({"q", wq, bq, gamma_q, HeadNormOf::queries, scales::hq, scales::q, chosen_.epsilon_q});
    add_rotated({"k", wk, bk, gamma_k, HeadNormOf::keys, scales::hk, scales::k, chosen_.epsilon_k});
  }

  /// What a branch adds. Updates of the residual are differences of two range-checked values.
  void add_update(const std::string& branch, double sums, int shift, ParameterId gamma, std::int64_t epsilon) {
    const double most = 2 * bounds_.residual();
    if (!shape_.norm_after()) {
      bounds_.shift(branch + " update", sums, shift, most);
      return;
    }
    const double largest = pow2(static_cast<int>(chosen_.widths.branch_bits) - 1);
    const std::string norm = branch + " norm behind";
    bounds_.shift(norm + " input", sums, shift, largest);
    bounds_.root(norm, static_cast<double>(shape_.n_embd) * largest * largest, epsilon,
                 branch_inverse_bits(shape_, epsilon));
    const double gain = bounds_.maximum(gamma) * pow2(gain_piece_bits) + bounds_.maximum(*low_piece(gamma));
    bounds_.shift(branch + " update", static_cast<double>(branch_norm_numerator(shape_)) * gain, shifts_.of(gamma),
                  most);
  }

  void add_plain_mlp() {
    const bool bias = shape_.layers.bias;
    bounds_.shift("mlp", bounds_.product("mlp", shape_.n_embd, read_, w1, biased(bias, b1)), shifts_.of(w1),
                  int16_limit);
    add_update("mlp", bounds_.product("mlp update", shape_.n_inner, int16_limit, w2, biased(bias, b2)), shifts_.of(w2),
               gamma_m, chosen_.epsilon_m);
  }

  void add_gated_mlp() {
    const std::size_t d = shape_.n_embd;
    const Widths& widths = chosen_.widths;
    const int gate_bits = static_cast<int>(widths.gate_bits);
    bounds_.shift("gate", bounds_.product("gate", d, read_, w_gate), shifts_.of(w_gate), pow2(gate_bits - 1));
    // |f(x)| <= |x|
    const double activation = pow2(x_[scales::gelu] - x_[scales::mlp] + gate_bits - 1);
    bounds_.add("activation", activation, static_cast<double>(most_activation(shape_, widths)));
    const double product = pow2(static_cast<int>(widths.product_bits) - 1);
    bounds_.shift("product a*U", activation * bounds_.product("up", d, read_, w_up), shifts_.of(w_up), product);
    add_update("mlp", static_cast<double>(shape_.n_inner) * product * bounds_.maximum(w_down), shifts_.of(w_down),
               gamma_m, chosen_.epsilon_m);
  }

  void add_logits() {
    const double bias = biased(shape_.head_bias, head_bias);
    bounds_.logits(shape_.tied ? embedding : head, chosen_.widths.final_bits, chosen_.logit_row, bias);
  }

  BoundList bounds_;
  const ModelShape& shape_;
  const IntegerConstants& constants_;
  const ModelConstants& chosen_;
  const Exponents& x_;
  const Shifts& shifts_;
  double read_;  // what branches read stays below
};

}  // namespace

std::vector<Bound> derived_bounds(const ModelShape& shape, const IntegerConstants& constants,
                                  const Exponents& exponents, const ParameterMaxima& maxima,
                                  const ModelConstants& chosen) {
  return ModelBounds(shape, constants, chosen, exponents, maxima).all();
}

}  // namespace tessera
