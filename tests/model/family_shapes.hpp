#pragma once

#include <array>

#include "parameters/shape.hpp"

namespace tessera::test {

/// Small shapes of models whose blocks are not Llama's. Two or three blocks, heads that are no powers of two.
enum FamilyKind : std::size_t {
  parallel_norms,
  shared_norm,
  layer_norms,
  norms_after,
  norms_around,
  capped_scores,
  family_kinds
};
inline constexpr std::array family_names{"parallel_norms", "shared_norm",  "layer_norms",
                                         "norms_after",    "norms_around", "capped_scores"};

inline ModelShape family_shape(FamilyKind kind) {
  constexpr bool biases = true;
  ModelShape shape{3, 20, 4, 28, 40, 40, rotary_layers, 2, 6, false, false, false};
  switch (kind) {
    case parallel_norms:  // GPT-NeoX
      shape.layers = {Positions::rotary,  NormKind::layer, NormPlace::before,
                      Branches::parallel, MlpKind::plain,  biases};
      shape.qkv_bias = true;
      break;
    case shared_norm:  // Phi
      shape.layers = {Positions::rotary,     NormKind::layer, NormPlace::before,
                      Branches::shared_norm, MlpKind::plain,  biases};
      shape.qkv_bias = shape.head_bias = true;
      break;
    case layer_norms:  // StableLM, and blocks of two rotations
      shape.layers.norm = NormKind::layer;
      shape.rotations = 2;
      shape.rotation_of_block = {0, 1, 0};
      break;
    case norms_after:  // OLMo 3
      shape.layers.norm_place = NormPlace::after;
      shape.head_norm = shape.norm_across_heads = true;
      shape.window_of_block = {5, 5, 0};
      break;
    case capped_scores:  // Gemma 2
      shape.layers.norm_place = NormPlace::around;
      shape.tied = shape.score_cap = shape.logit_cap = true;
      shape.window_of_block = {4, 0, 4};
      break;
    default:  // Gemma 3
      shape.layers.norm_place = NormPlace::around;
      shape.tied = shape.head_norm = true;
      shape.rotations = 2;
      shape.rotation_of_block = {0, 0, 1};
      shape.window_of_block = {3, 9, 0};
      break;
  }
  return shape;
}

}  // namespace tessera::test
