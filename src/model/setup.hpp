#pragma once

#include "model/model.hpp"
#include "plan/key.hpp"

namespace tessera {

/// The verifying key of a model, function tables and oracle parameters included; the root is filled in by the
/// commitment. Deterministic: depends on the model only.
VerifyingKey make_verifying_key(const Model& model);

}  // namespace tessera
