#pragma once

#include "model/import.hpp"

namespace tessera {

/// A model of this shape with seeded random parameters, for measuring where trained weights cannot be shipped: weights
/// normal with deviation 1/sqrt(in) (output projections smaller by sqrt(2L)), embeddings 0.14 and positions 0.04 as in
/// trained GPT-2, gains around 1. Deterministic on any machine: the normal deviates are an Irwin-Hall sum of integers.
FloatModel synthesize_parameters(const ModelShape& shape, double layer_norm_epsilon, std::uint64_t seed);

/// Token bytes for a synthetic vocabulary: single bytes, then names; the last id ends a text. Prompts are token ids.
TokenizerData synthesize_tokenizer(const ModelShape& shape);

/// Synthesizes, calibrates on random tokens and quantizes. Throws InputError for a shape that is not supported.
ImportedModel synthesize_model(const ModelShape& shape, double layer_norm_epsilon, std::uint64_t seed,
                               const Progress& progress = {});

}  // namespace tessera
