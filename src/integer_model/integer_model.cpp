#include "integer_model/integer_model.hpp"

#include <stdexcept>
#include <string>

#include "arithmetic/tables.hpp"
#include "integer_model/equalisation.hpp"
#include "integer_model/quantization.hpp"
#include "plan/limits.hpp"

namespace tessera {

VerifyingKey make_verifying_key(const Model& model, std::uint64_t hiding_proofs) {
  const IntegerConstants constants =
      IntegerConstants::of(model.shape, model.layer_norm_epsilon, model.exponents, model.widths);
  VerifyingKey key;
  key.shape = model.shape;
  key.epsilon = constants.epsilon;
  key.exponents = model.exponents;
  key.exp_table = exp_table(model.exponents[scales::score], constants.kappa);
  key.gelu_table = activation_table(model.activation, model.exponents[scales::mlp], model.exponents[scales::gelu],
                                    model.widths.gate_bits);
  if (model.shape.score_cap) {
    key.cap_table = cap_table(model.caps.scores, model.exponents[scales::uncapped], model.exponents[scales::score]);
  }
  key.widths = model.widths;
  if (model.shape.rotary()) {
    const ModelConstants chosen =
        ModelConstants::of(model.shape, model.layer_norm_epsilon, model.exponents, model.widths);
    key.epsilon_q = chosen.epsilon_q;
    key.epsilon_k = chosen.epsilon_k;
    key.epsilon_o = chosen.epsilon_o;
    key.epsilon_m = chosen.epsilon_m;
    key.rotary_table = model.rotary_table;
    // they follow from the sizes of weights
    key.equalisation = hiding_proofs > 0 ? no_equalisation(model.shape) : model.equalisation;
  }
  key.tokenizer = model.tokenizer;
  key.filler = model.tokenizer.end_of_text;
  key.exceptions = default_exceptions;
  key.hiding_proofs = hiding_proofs;
  key.parameter_oracle = parameter_oracle_parameters(parameter_shapes(model.shape), hiding_proofs > 0);
  return key;
}

IntegerModel integer_model(const Model& model) {
  check_shape(model.shape);
  check_widths(model.shape, model.widths);
  check_exponents(model.shape, model.exponents, model.widths);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    const ParameterExtents expected = row.extents(model.shape);
    const ParameterExtents found = model.parameters[row.id].extents();
    if (found != expected) {
      throw std::invalid_argument("integer model: length of " + std::string(row.name) + " is " +
                                  std::to_string(found.count()) + ", expected " + std::to_string(expected.count()));
    }
  }
  return {make_verifying_key(model), &model.parameters, model.caps.logits};
}

}  // namespace tessera
