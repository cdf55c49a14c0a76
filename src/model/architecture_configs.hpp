#pragma once

#include <optional>
#include "model/checkpoint.hpp"
#include "model/config_fields.hpp"

namespace tessera {

/// What sets the members of the Llama family apart.
struct LlamaMember {
  std::string_view model_type, architecture;
  bool qkv_bias = false, head_norm = false;
};
/// The member of this model_type, which there must be.
const LlamaMember& llama_member(std::string_view model_type);

/// The context of a model that leaves it open: the chosen one, else the positions in field `name` that it was trained
/// for, but no more than 2048. Throws InputError naming the field if it is too small, or too large for this version.
std::size_t read_context(ConfigFields& fields, const std::string& name, std::optional<std::size_t> chosen);

/// The rest of a configuration whose model_type has been taken. Throws InputError naming the field.
CheckpointConfig read_gpt2_config(ConfigFields& fields, std::optional<std::size_t> context);
CheckpointConfig read_llama_config(const std::string& model_type, ConfigFields& fields,
                                   std::optional<std::size_t> context);

}  // namespace tessera
