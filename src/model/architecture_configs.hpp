#pragma once

#include <optional>
#include "model/checkpoint.hpp"
#include "model/config_fields.hpp"

namespace tessera {

/// The rest of a configuration whose model_type has been taken. Throws InputError naming the field.
CheckpointConfig read_gpt2_config(ConfigFields& fields, std::optional<std::size_t> context);
CheckpointConfig read_llama_config(const std::string& model_type, ConfigFields& fields,
                                   std::optional<std::size_t> context);

}  // namespace tessera
