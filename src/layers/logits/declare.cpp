#include "layers/logits/logits.hpp"

namespace tessera {

LogitsPlan LogitsPlan::declare(Builder& builder, LogitsSpec spec) {
  LogitsPlan logits;
  static_cast<LogitsSpec&>(logits) = std::move(spec);
  if (logits.sampling) {
    logits.sampled = SampledPlan::declare(builder, *logits.sampling, logits.logits.dimensions()[1].length);
  } else {
    logits.token_logits =
        builder.derive("token_logit", Shape({Dimension::whole(logits.logits.dimensions()[1].length).named("G")}), {});
    logits.token_logit = builder.commit(logits.token_logits);
  }
  logits.difference = builder.layer_value("logit_difference", logits.logits, 48);
  logits.values = builder.record<std::int64_t>("logits", logits.logits, {0});
  return logits;
}

}  // namespace tessera
