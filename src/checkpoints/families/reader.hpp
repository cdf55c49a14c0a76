#pragma once

#include <functional>

#include "checkpoints/families/family.hpp"

namespace tessera {

/// Angles, and what cosines and sines are multiplied with, as a configuration says them.
struct ScaledRope {
  Rope rope;
  double attention = 1;
};

/// Reads what configurations of families with rotary positions have in common, step by step, into a model that begins
/// as Llama's: RMS norms before sequential branches, a gated MLP, no biases. A family's file calls the steps that its
/// configurations have, and changes what it does otherwise.
class FamilyReader {
 public:
  /// `architecture`: what the field `architectures` may name.
  FamilyReader(ConfigFields& fields, std::string_view architecture, std::optional<std::size_t> context);

  [[nodiscard]] ConfigFields& fields() { return fields_; }
  [[nodiscard]] CheckpointConfig& config() { return model_.config; }
  [[nodiscard]] ModelShape& shape() { return model_.config.shape; }
  [[nodiscard]] TensorNames& names() { return model_.names; }
  [[nodiscard]] TensorPlace& place(ParameterId id) { return model_.names.places[id]; }

  /// hidden_size and the other sizes; num_key_value_heads may be absent where `every_head`: each head has its own then.
  void sizes(bool every_head = false);
  /// head_dim: may be absent but where `required`.
  void head_size(bool required = false);
  /// The chosen positions, or as many as the model was trained for, but no more than 2048.
  void context();
  void epsilon(const std::string& name, double absent);
  void tied(bool absent);
  void activation(const std::string& name);
  /// rope_theta, rope_scaling, rope_parameters: of all blocks, or of those that turn.
  void rotation(const std::vector<bool>& turned = {});
  /// Angles of each block by layer_types, whose names rope_parameters may have. `local`: angles of the blocks with a
  /// window where the older form does not say them.
  void rotations_by_type(const std::vector<std::string>& types, const std::optional<Rope>& local);
  /// layer_types: full_attention or sliding_attention of each block; `sliding_if_absent`: whether block b slides
  /// where a file has none.
  std::vector<std::string> layer_types(const std::function<bool(std::size_t)>& sliding_if_absent);
  /// sliding_window, of the blocks of these types; none where the context is no longer.
  void windows(const std::vector<std::string>& types);
  /// Scores are multiplied with this in place of 1/sqrt(m).
  void score_factor(double factor);
  /// attn_logit_softcapping and final_logit_softcapping: null where there is none, and what they are if they are
  /// absent.
  void caps(const SoftCaps& absent);
  /// Refuses what is left, but for `ignored` fields, and gives the model.
  FamilyModel finish(std::span<const std::string_view> ignored = {});

 private:
  ScaledRope read_rope(ConfigFields from, double theta);
  /// By rope_scaling or rope_parameters, of which one may say something.
  ScaledRope read_plain_rope(double theta);
  void read_yarn(ConfigFields& from, ScaledRope& scaled, std::size_t places);
  void read_longrope(ConfigFields& from, ScaledRope& scaled);
  void turn(const std::vector<ScaledRope>& by_block);

  ConfigFields& fields_;
  std::optional<std::size_t> chosen_;
  std::size_t trained_ = 0;  // positions
  FamilyModel model_;
};

/// The context of a model that leaves it open: the chosen one, else the positions in field `name` that it was trained
/// for, but no more than 2048. Throws InputError naming the field if it is too small, or too large for this version.
std::size_t read_context(ConfigFields& fields, const std::string& name, std::optional<std::size_t> chosen);

/// Gives blocks their windows: 0 where the context is not longer than the window.
void set_windows(ModelShape& shape, const std::vector<bool>& sliding, std::size_t window);

/// The tensors of Llama's folders.
TensorNames llama_names();
/// The tensors of a plain MLP in place of a gated one's.
void name_plain_mlp(TensorNames& names, const std::string& first, const std::string& second);

}  // namespace tessera
