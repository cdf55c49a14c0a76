#pragma once

#include <filesystem>
#include <optional>
#include "checkpoints/checkpoint_files.hpp"
#include "checkpoints/trained_model.hpp"

namespace tessera {

/// What a configuration says, checked field by field.
struct CheckpointConfig {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  std::vector<Rope> ropes = {};  // with rotary positions: of each of the shape's rotations
  ActivationKind activation = ActivationKind::gelu;
  ParameterFactors factors = {};
  SoftCaps caps = {};

  /// Gives the next block these angles: those of an earlier one, or new ones.
  void turn(const Rope& rope);
  /// Says in the shape what turn() made of all blocks.
  void settle_rotations();
  /// Scores are multiplied with this: the factors of all that scales_scores().
  void scale_scores(double factor);
  /// Each block's by its factor: by one of the parameter where blocks agree.
  void scale_scores(const std::vector<double>& by_block);
  /// Scores and logits are capped; 0: they are not.
  void cap(const SoftCaps& all);
};

/// Whether scores are multiplied with what this parameter is multiplied with: what makes queries, or the gains of their
/// norms, which take away what stands before them.
bool scales_scores(ParameterId id, const ModelShape& shape);

/// Reads a Hugging Face config.json of one of the families (families/). Those with rotary positions leave the
/// context open: it is `context`, up to max_position_embeddings, by default no more than 2048. What is not supported,
/// and any field not known to leave inference alone, is refused by name. Throws InputError.
CheckpointConfig read_checkpoint_config(const std::filesystem::path& file, std::optional<std::size_t> context = {});

/// Loads a folder's config.json and safetensors, or a GGUF file, whose quantized tensors are dequantized as the format
/// defines it. Weights stored as (in, out) become (out, in), those that are fused are cut, and places of heads come
/// into the order that rotations here have. Buffers, rotary frequencies and, in tied models, a head equal to the
/// embedding are ignored. Throws InputError for missing, extra and mis-shaped tensors, NaN and infinity, naming file,
/// tensor and index.
FloatModel load_checkpoint(const CheckpointFiles& files, std::optional<std::size_t> context = {});
/// Loads the checkpoint of find_checkpoint(path).
FloatModel load_checkpoint(const std::filesystem::path& path, std::optional<std::size_t> context = {});

}  // namespace tessera
