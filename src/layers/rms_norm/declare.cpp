#include "layers/rms_norm/rms_norm.hpp"

namespace tessera {

RmsNormPlan RmsNormPlan::declare(Builder& builder, RmsNormSpec spec) {
  RmsNormPlan norm;
  static_cast<RmsNormSpec&>(norm) = std::move(spec);
  norm.commit(builder, norm.name, norm.token);
  norm.check(builder, norm.name, norm.token, norm.inverse_bits);
  norm.declare_output(builder, norm);
  return norm;
}

}  // namespace tessera
