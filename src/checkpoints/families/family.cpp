#include "checkpoints/families/family.hpp"

#include "checkpoints/json_file.hpp"

namespace tessera {

std::span<const Family> families() {
  static constexpr Family all[] = {{"gpt2", read_gpt2},         {"llama", read_llama},
                                   {"mistral", read_mistral},   {"qwen2", read_qwen2},
                                   {"qwen3", read_qwen3},       {"smollm3", read_smollm3},
                                   {"granite", read_granite},   {"olmo2", read_olmo2},
                                   {"olmo3", read_olmo3},       {"phi", read_phi},
                                   {"phi3", read_phi3},         {"gpt_neox", read_gpt_neox},
                                   {"opt", read_opt},           {"starcoder2", read_starcoder2},
                                   {"stablelm", read_stablelm}, {"gemma", read_gemma},
                                   {"gemma2", read_gemma2},     {"gemma3_text", read_gemma3}};
  return all;
}

FamilyModel read_family(const std::filesystem::path& file, std::optional<std::size_t> context) {
  ConfigFields fields(parse_json_object(read_file(file, 1U << 20U), file.string()), file.string());
  if (!fields.has_value("model_type")) {
    fields.refuse("model_type", "a value", nullptr);
  }
  std::vector<nlohmann::json> types;
  for (const Family& family : families()) {
    types.emplace_back(family.model_type);
  }
  const auto type = fields.one_of("model_type", types).get<std::string>();
  return std::ranges::find(families(), type, &Family::model_type)->read(fields, context);
}

CheckpointConfig read_checkpoint_config(const std::filesystem::path& file, std::optional<std::size_t> context) {
  return read_family(file, context).config;
}

}  // namespace tessera
