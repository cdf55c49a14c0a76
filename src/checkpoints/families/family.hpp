#pragma once

#include <optional>
#include <string>

#include "checkpoints/checkpoint.hpp"
#include "checkpoints/config_fields.hpp"
#include "checkpoints/tensor_names.hpp"

namespace tessera {

/// What a configuration says of a model, and where its checkpoint has what.
struct FamilyModel {
  CheckpointConfig config;
  TensorNames names;
};

/// A family of checkpoints: how a configuration is read whose model_type has been taken. Throws InputError naming the
/// field that is not supported.
struct Family {
  std::string_view model_type;
  FamilyModel (*read)(ConfigFields& fields, std::optional<std::size_t> context);
};

/// The families that are known.
std::span<const Family> families();

/// Reads config.json.
FamilyModel read_family(const std::filesystem::path& file, std::optional<std::size_t> context);

FamilyModel read_gpt2(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_opt(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_llama(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_mistral(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_qwen2(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_qwen3(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_smollm3(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_granite(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_olmo2(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_olmo3(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_phi(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_phi3(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_gpt_neox(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_starcoder2(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_stablelm(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_gemma(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_gemma2(ConfigFields& fields, std::optional<std::size_t> context);
FamilyModel read_gemma3(ConfigFields& fields, std::optional<std::size_t> context);

}  // namespace tessera
