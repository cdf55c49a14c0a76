#include "integer_model/bounds.hpp"

#include <bit>
#include <cstdlib>
#include <sstream>

#include "base/errors.hpp"
#include "plan/limits.hpp"

namespace tessera {

void BoundList::shift(const std::string& name, double accumulator, int shift, double y_limit) {
  add(name + " accumulator", accumulator + pow2(shift - 1), side_limit);
  add(name + " quotient and remainder", pow2(shift) * (y_limit + 1), side_limit);
}

double BoundList::product(const std::string& name, std::size_t inputs, double input, ParameterId weight, double bias) {
  const double products = static_cast<double>(inputs) * input * maximum(weight);
  add(name + " product (exact in float64)", products, 0x1p53);
  return products + bias;
}

void BoundList::context() { add("context n_positions", static_cast<double>(shape_.n_positions), max_positions); }

void BoundList::norms(const std::string& name, double mean) {
  const auto d = static_cast<double>(shape_.n_embd);
  const auto epsilon = static_cast<double>(constants_.epsilon);
  const double squares = d * residual() * residual();
  add(name + " sum of squares d*x^2", squares, 0x1p62);
  if (mean > 0) {
    add(name + " mean d*mu + remainder", mean, side_limit);
  }
  add(name + " epsilon", epsilon, static_cast<double>(max_epsilon));
  add(name + " variance V", squares + (mean > 0 ? d : 0) + epsilon, side_limit);
  add(name + " inverse bits", static_cast<double>(constants_.inverse_bits), max_inverse_bits);
  add(name + " I*sigma + remainder", pow2(static_cast<int>(constants_.inverse_bits + sigma_bits)) + pow2(sigma_bits),
      side_limit);
}

void BoundList::scores() {
  shift("scores", static_cast<double>(shape_.head_size()) * 0x1p30, shifts_.of(scales::q), int16_limit);
}

void BoundList::softmax() {
  // a continuation's filler follows the conversation
  const auto keys = 2 * static_cast<double>(std::bit_ceil(shape_.n_positions));
  const auto kappa = static_cast<int>(constants_.kappa);
  const double row_sum = pow2(kappa + 16) * keys + pow2(kappa - 1);  // D = 2^kappa*A' + T
  add("soft-max R*D + remainder", pow2(31 - kappa) * row_sum, side_limit);
  add("soft-max e", pow2(kappa + 15) + 1, 0x1p31);
  shift("y", 0x1p61, softmax_shift, int16_limit);  // |O| <= 2^15*D and R*D <= 2^46
}

void BoundList::root(const std::string& name, double squares, std::int64_t eps, unsigned inverse_bits) {
  const auto epsilon = static_cast<double>(eps);
  add(name + " epsilon", epsilon, static_cast<double>(max_epsilon));
  add(name + " variance V", squares + epsilon, side_limit);
  add(name + " inverse bits", inverse_bits, max_inverse_bits);
  add(name + " I*sigma + remainder", pow2(static_cast<int>(inverse_bits + sigma_bits)) + pow2(sigma_bits), side_limit);
}

void BoundList::logits(ParameterId weight, unsigned bits, double row, double bias) {
  const double largest = static_cast<double>(shape_.n_embd) * maximum(weight);
  const double products = pow2(static_cast<int>(bits) - 1) * (row > 0 ? std::min(row, largest) : largest);
  add("logits", products + bias, 0x1p47 - 1);
}

namespace {

/// The largest sum of absolute values among the rows that are kept here.
double largest_row_sum(const Parameters& parameters, ParameterId id) {
  const ParameterExtents extents = parameters[id].extents();
  std::int64_t largest = 0;
  for (std::size_t block = 0; block < extents.blocks; ++block) {
    const Range held = parameters[id].held();
    const std::span<const std::int16_t> rows = parameters[id].block(block).rows(held);
    for (std::size_t row = 0; row < held.size(); ++row) {
      std::int64_t sum = 0;
      for (const std::int16_t value : rows.subspan(row * extents.columns, extents.columns)) {
        sum += std::abs(std::int64_t{value});
      }
      largest = std::max(largest, sum);
    }
  }
  return static_cast<double>(largest);
}

}  // namespace

ModelConstants ModelConstants::of(const ModelShape& shape, double epsilon, const Exponents& exponents,
                                  const Widths& widths) {
  ModelConstants constants;
  constants.widths = widths;
  if (shape.head_norm) {
    constants.epsilon_q = head_epsilon(shape, HeadNormOf::queries, epsilon, exponents[scales::hq]);
    constants.epsilon_k = head_epsilon(shape, HeadNormOf::keys, epsilon, exponents[scales::hk]);
  }
  if (shape.norm_after()) {
    constants.epsilon_o = branch_epsilon(shape, epsilon, exponents[scales::ho]);
    constants.epsilon_m = branch_epsilon(shape, epsilon, exponents[scales::hm]);
  }
  return constants;
}

void check_bounds(const ModelShape& shape, const IntegerConstants& constants, const Exponents& exponents,
                  const ParameterMaxima& maxima, const ModelConstants& chosen) {
  check_widths(shape, chosen.widths);
  check_exponents(shape, exponents, chosen.widths);
  for (const Bound& bound : derived_bounds(shape, constants, exponents, maxima, chosen)) {
    if (!(bound.value <= bound.limit)) {
      std::ostringstream message;
      message.precision(17);
      message << "derived bound: " << bound.name << ": expected at most " << bound.limit << ", found " << bound.value;
      throw InputError(message.str());
    }
  }
}

void check_bounds(const Model& model, const ParameterMaxima& maxima) {
  const ModelShape& shape = model.shape;
  ModelConstants chosen = ModelConstants::of(shape, model.layer_norm_epsilon, model.exponents, model.widths);
  chosen.score_cap = model.caps.scores;
  if (shape.rotary()) {
    chosen.logit_row = largest_row_sum(model.parameters, shape.tied ? embedding : head);
  }
  check_bounds(shape, IntegerConstants::of(shape, model.layer_norm_epsilon, model.exponents, model.widths),
               model.exponents, maxima, chosen);
}

}  // namespace tessera
