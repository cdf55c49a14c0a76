#include "parameters/scales.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera {

Exponents::Exponents() {
  constexpr std::int32_t stream = 12;
  values_[scales::residual] = stream;
  values_[embedding] = stream;
}

std::vector<NamedScale> activation_scales(const ModelShape& shape) {
  std::vector<NamedScale> scales{{"residual", scales::residual}, {"u1", scales::u1}};
  const auto add = [&](bool has, std::initializer_list<NamedScale> more) {
    if (has) {
      scales.insert(scales.end(), more);
    }
  };
  add(shape.second_input(), {{"u2", scales::u2}});
  add(true, {{"uf", scales::uf}});
  add(shape.head_norm, {{"hq", scales::hq}, {"hk", scales::hk}});
  add(true, {{"q", scales::q}, {"k", scales::k}, {"v", scales::v}, {"score", scales::score}});
  add(shape.score_cap, {{"uncapped", scales::uncapped}});
  add(true, {{shape.gated() ? "gate" : "mlp", scales::mlp}, {shape.rotary() ? "activation" : "gelu", scales::gelu}});
  add(shape.gated(), {{"product", scales::product}});
  add(shape.norm_after(), {{"ho", scales::ho}, {"hm", scales::hm}});
  return scales;
}

void complete(const ModelShape& shape, Exponents& exponents) {
  if (!shape.second_input()) {
    exponents[scales::u2] = exponents[scales::u1];
  }
}

int ScaledStep::left(const Exponents& exponents) const {
  int sum = constant + after_bias;
  for (const ScaleId factor : factors) {
    sum += exponents[factor];
  }
  return sum;
}

namespace {

/// Collects the steps of one model.
class Steps {
 public:
  Steps(const ModelShape& shape, const Widths& widths) : shape_(shape), widths_(widths) {}

  std::vector<ScaledStep> all() && {
    add_head('q', wq, bq, gamma_q, scales::hq, scales::q);
    add_head('k', wk, bk, gamma_k, scales::hk, scales::k);
    add({.factors = {wv, scales::u1}, .result = scales::v, .name = "shift_v"});
    add_bias(shape_.qkv_bias, bv, "bias_v");
    add({.factors = {scales::q, scales::k},
         .result = shape_.score_cap ? scales::uncapped : scales::score,
         .name = "shift_score"});
    add_branch({wo, scales::v}, {"o", scales::ho, "shift_ho", gamma_o});
    add_bias(shape_.layers.bias, bo, "bias_o");
    shape_.gated() ? add_gated_mlp() : add_plain_mlp();
    add_norms();
    if (shape_.rotary()) {
      add({.factors = {embedding},
           .result = scales::residual,
           .name = "shift_embedding",
           .limit = "shift of the embedding"});
    }
    add({.factors = {shape_.tied ? embedding : head, scales::uf}});  // logits
    add_bias(shape_.head_bias, head_bias, "bias_head");
    return std::move(steps_);
  }

 private:
  void add(ScaledStep step) { steps_.push_back(std::move(step)); }

  void add_bias(bool has, ParameterId bias, std::string name, std::string_view limit = "left shift") {
    if (has) {
      steps_.back().bias = bias;
      steps_.back().bias_name = std::move(name);
      steps_.back().bias_limit = limit;
    }
  }

  /// Queries or keys: the product, its norm if heads have one, and the rotation if positions are rotary.
  void add_head(char name, ParameterId weight, ParameterId bias, ParameterId gamma, ScaleId input, ScaleId output) {
    const std::string label = std::string("_") + name;
    const bool normed = shape_.head_norm;
    const int rotated = shape_.rotary() ? rotation_exponent : 0;
    if (normed) {
      add({.factors = {weight, scales::u1}, .result = input, .name = std::string("shift_h") + name});
      add_bias(shape_.qkv_bias, bias, "bias" + label);
      add({.factors = {gamma},
           .constant = head_norm_exponent + rotated,
           .result = output,
           .name = "shift" + label,
           .limit = "shift of a normed rotation"});
      return;
    }
    add({.factors = {weight, scales::u1},
         .after_bias = rotated,
         .result = output,
         .name = "shift" + label,
         .limit = shape_.rotary() ? "shift of a product" : "shift"});
    add_bias(shape_.qkv_bias, bias, "bias" + label, shape_.rotary() ? "rotated left shift" : "left shift");
  }

  /// What a branch makes: an exponent of its own before a norm, that of the stream else.
  struct Branch {
    std::string name;
    ScaleId input;
    std::string input_name;
    ParameterId gamma;
  };

  void add_branch(std::vector<ScaleId> factors, const Branch& branch) {
    if (!shape_.norm_after()) {
      add({.factors = std::move(factors), .result = scales::residual, .name = "shift_" + branch.name});
      return;
    }
    add({.factors = {branch.gamma},
         .constant = norm_after_exponent,
         .result = scales::residual,
         .name = branch.gamma == gamma_o ? "shift of gamma_o" : "shift of gamma_m",
         .limit = "shift of a norm after"});
    add({.factors = std::move(factors), .result = branch.input, .name = branch.input_name});
  }

  void add_gated_mlp() {
    add({.factors = {w_gate, scales::u2}, .result = scales::mlp, .name = "shift_gate"});
    add({.factors = {w_up, scales::u2, scales::gelu},
         .result = scales::product,
         .name = "shift_product",
         .limit = "shift of a product"});
    add_branch({w_down, scales::product}, {"down", scales::hm, "shift_hm", gamma_m});
  }

  void add_plain_mlp() {
    add({.factors = {w1, scales::u2}, .result = scales::mlp, .name = "shift_1"});
    add_bias(shape_.layers.bias, b1, "bias_1");
    add_branch({w2, scales::gelu}, {"2", scales::hm, "shift_hm", gamma_m});
    add_bias(shape_.layers.bias, b2, "bias_2");
  }

  void add_norm(ParameterId gamma, ParameterId beta, ScaleId output, const std::string& name, std::string_view limit) {
    add({.factors = {gamma},
         .constant = normalized_exponent(widths_),
         .result = output,
         .name = "shift_norm of " + name,
         .limit = limit});
    add_bias(!shape_.rms(), beta, "bias_norm of beta" + name.substr(1));
  }

  void add_norms() {
    if (shape_.norm_before()) {
      add_norm(gamma1, beta1, scales::u1, "u1", "shift of a layer norm");
    } else {
      add({.factors = {scales::residual}, .result = scales::u1, .name = "shift of u1"});
      add({.factors = {scales::residual}, .result = scales::u2, .name = "shift of u2"});
    }
    if (shape_.second_norm()) {
      add_norm(gamma2, beta2, scales::u2, "u2", "shift of a layer norm");
    }
    add_norm(gammaf, betaf, scales::uf, "uf", shape_.rotary() ? "shift of the final norm" : "shift of a layer norm");
  }

  const ModelShape& shape_;
  const Widths& widths_;
  std::vector<ScaledStep> steps_;
};

template <class Condition>
const ScaledStep& the_step(const std::vector<ScaledStep>& steps, Condition&& condition) {
  const auto found = std::ranges::find_if(steps, condition);
  if (found == steps.end()) {
    throw std::logic_error("a model has no such step");
  }
  return *found;
}

}  // namespace

std::vector<ScaledStep> scaled_steps(const ModelShape& shape, const Widths& widths) {
  return Steps(shape, widths).all();
}

const ScaledStep& Shifts::step_of(const std::vector<ScaledStep>& steps, ScaleId factor) {
  return the_step(steps, [=](const ScaledStep& step) { return step.factors.front() == factor; });
}

const ScaledStep& Shifts::step_with(const std::vector<ScaledStep>& steps, ParameterId bias) {
  return the_step(steps, [=](const ScaledStep& step) { return step.bias == bias; });
}

int Shifts::to(ScaleId result) const {
  return the_step(steps_, [=](const ScaledStep& step) { return step.result == result; }).shift(exponents_);
}

}  // namespace tessera
