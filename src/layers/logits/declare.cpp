#include "layers/logits/logits.hpp"

namespace tessera {

LogitsPlan LogitsPlan::declare(Builder& builder, LogitsSpec spec) {
  LogitsPlan logits;
  static_cast<LogitsSpec&>(logits) = std::move(spec);
  const Shape& shape = logits.logits;
  if (logits.sampling && logits.sampling->sampling.dense()) {
    logits.dense = DensePlan::declare(builder, *logits.sampling, shape);
  } else {
    if (logits.sampling) {
      logits.sampled = SampledPlan::declare(builder, *logits.sampling, shape.dimensions()[1].length);
    } else {
      logits.token_logits =
          builder.derive("token_logit", Shape({Dimension::whole(shape.dimensions()[1].length).named("G")}), {});
      logits.token_logit = builder.commit(logits.token_logits);
    }
    logits.difference = builder.layer_value("logit_difference", shape, 48);
  }
  logits.values = builder.record<std::int64_t>("logits", shape, {0});
  return logits;
}

}  // namespace tessera
