#pragma once

#include "model/checkpoint.hpp"
#include "model/import.hpp"

namespace tessera {

/// A model of this shape with seeded random parameters, for measuring where trained weights cannot be shipped: weights
/// normal with deviation 1/sqrt(in) (output projections smaller by sqrt(2L)), embeddings 0.14 and positions 0.04 as in
/// trained GPT-2, gains around 1; calibrated on random tokens and quantized. Those of the Llama family have outliers of
/// the size of trained ones, in channels of norms, values, products and the residual stream. Tokens are single bytes,
/// then names; the last id ends a text. Deterministic on any machine: the normal deviates are an Irwin-Hall sum of
/// integers. Throws InputError for a shape that is not supported.
ImportedModel synthesize_model(const CheckpointConfig& config, std::uint64_t seed, const Progress& progress = {});

}  // namespace tessera
