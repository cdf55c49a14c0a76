#include "model/architecture_configs.hpp"
#include "model/json_file.hpp"

namespace tessera {

CheckpointConfig read_checkpoint_config(const std::filesystem::path& file, std::optional<std::size_t> context) {
  ConfigFields fields(parse_json_object(read_file(file, 1U << 20U), file.string()), file.string());
  if (!fields.has_value("model_type")) {
    fields.refuse("model_type", "a value", nullptr);
  }
  const auto type = fields.one_of("model_type", {"gpt2", "llama", "mistral", "qwen2", "qwen3"}).get<std::string>();
  return type == "gpt2" ? read_gpt2_config(fields, context) : read_llama_config(type, fields, context);
}

}  // namespace tessera
