#include "arithmetic/tables.hpp"
#include "plan/plan.hpp"
#include "model/setup.hpp"

namespace tessera {

VerifyingKey make_verifying_key(const Model& model) {
  const IntegerConstants constants = IntegerConstants::of(model.shape, model.layer_norm_epsilon);
  VerifyingKey key;
  key.shape = model.shape;
  key.epsilon = constants.epsilon;
  key.exponents = model.exponents;
  key.exp_table = exp_table(model.exponents.score, constants.kappa);
  key.gelu_table = gelu_table(model.exponents.mlp, model.exponents.gelu);
  key.tokenizer = model.tokenizer;
  key.filler = model.tokenizer.end_of_text;
  key.parameter_oracle = parameter_oracle_parameters(OracleLayout(parameter_shapes(model.shape)).log_size());
  return key;
}

}  // namespace tessera
