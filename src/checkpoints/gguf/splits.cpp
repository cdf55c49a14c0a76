#include "checkpoints/gguf/splits.hpp"

#include <algorithm>

namespace tessera {
namespace {

// NFC where the models' own tokenizer.json has it beside that split
constexpr GgufSplit all[] = {{"gpt-2", Split::gpt2},
                             {"phi-2", Split::gpt2},
                             {"olmo", Split::gpt2},
                             {"mpt", Split::gpt2},
                             {"jais", Split::gpt2},
                             {"trillion", Split::gpt2},
                             {"granite-docling", Split::gpt2},
                             {"gigachat", Split::gpt2},
                             {"mellum", Split::gpt2},
                             {"a.x-4.0", Split::gpt2},
                             {"exaone4", Split::gpt2},
                             {"modern-bert", Split::gpt2},
                             {"jina-es", Split::gpt2},
                             {"jina-de", Split::gpt2},
                             {"jina-v2-es", Split::gpt2},
                             {"jina-v2-de", Split::gpt2},
                             {"llama-bpe", Split::llama3, Normalizer::none, true, true},
                             {"llama3", Split::llama3, Normalizer::none, true, true},
                             {"llama-v3", Split::llama3, Normalizer::none, true, true},
                             {"falcon3", Split::llama3, Normalizer::none, true, true},
                             {"falcon-h1", Split::llama3, Normalizer::none, true, true},
                             {"pixtral", Split::llama3, Normalizer::none, true, true},
                             {"midm-2.0", Split::llama3, Normalizer::none, true, true},
                             {"lfm2", Split::llama3, Normalizer::none, true, true},
                             {"jina-v5-nano", Split::llama3, Normalizer::none, true, true},
                             {"dbrx", Split::llama3},
                             {"smaug-bpe", Split::llama3},
                             {"glm4", Split::llama3},
                             {"chatglm-bpe", Split::llama3},
                             {"qwen2", Split::qwen2, Normalizer::nfc},
                             {"deepseek-r1-qwen", Split::qwen2, Normalizer::nfc},
                             {"megrez", Split::qwen2, Normalizer::nfc},
                             {"kormo", Split::qwen2, Normalizer::nfc},
                             {"f2llmv2", Split::qwen2, Normalizer::nfc},
                             {"stablelm2", Split::qwen2},
                             {"hunyuan", Split::qwen2},
                             {"solar-open", Split::qwen2},
                             {"grok-2", Split::qwen2},
                             {"bailingmoe", Split::qwen2},
                             {"bailingmoe2", Split::qwen2},
                             {"llada-moe", Split::qwen2},
                             {"smollm", Split::digits},
                             {"starcoder", Split::digits},
                             {"refact", Split::digits},
                             {"command-r", Split::digits},
                             {"codeshell", Split::digits},
                             {"exaone", Split::digits},
                             {"minerva-7b", Split::digits},
                             {"mellum2", Split::digits},
                             {"deepseek-llm", Split::deepseek_llm},
                             {"deepseek-coder", Split::deepseek_coder},
                             {"deepseek-v3", Split::deepseek_v3},
                             {"hunyuan-dense", Split::deepseek_v3},
                             {"joyai-llm", Split::deepseek_v3},
                             {"hy_v4", Split::deepseek_v3},
                             {"gpt-4o", Split::gpt4o},
                             {"llama4", Split::gpt4o},
                             {"kanana2", Split::gpt4o},
                             {"talkie", Split::gpt4o},
                             {"minimax-m2", Split::gpt4o},
                             {"tekken", Split::tekken, Normalizer::none, true, true},
                             {"seed-coder", Split::seed_coder},
                             {"bloom", Split::bloom},
                             {"poro-chat", Split::bloom},
                             {"gpt3-finnish", Split::bloom},
                             {"viking", Split::viking}};

}  // namespace

std::vector<std::string> gguf_split_names() {
  std::vector<std::string> names;
  std::ranges::transform(all, std::back_inserter(names),
                         [](const GgufSplit& split) { return std::string(split.name); });
  return names;
}

const GgufSplit& gguf_split_of(std::string_view name) { return *std::ranges::find(all, name, &GgufSplit::name); }

}  // namespace tessera
