#include "checkpoint_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

/// Configurations as their authors publish them, and what is in them.
struct Published {
  const char* name;
  const char* text;
  ModelShape shape;
};

std::ostream& operator<<(std::ostream& stream, const Published& published) { return stream << published.name; }

ModelShape gemma_2_shape() {
  ModelShape shape{26, 2304, 8, 9216, 256000, 2048, rotary_layers, 4, 256, true, false};
  shape.layers.norm_place = NormPlace::around;
  shape.score_cap = shape.logit_cap = true;
  return shape;
}

const Published published[] = {
    {"distilgpt2",
     R"({"_num_labels": 1, "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "id2label": {"0": "LABEL_0"},
         "initializer_range": 0.02, "label2id": {"LABEL_0": 0}, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
         "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 6, "n_positions": 1024, "resid_pdrop": 0.1,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257})",
     {6, 768, 12, 3072, 50257, 1024}},
    {"gpt2_medium",
     R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
         "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 1024, "n_head": 16, "n_layer": 24,
         "n_positions": 1024, "n_special": 0, "predict_special_tokens": true, "resid_pdrop": 0.1,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257})",
     {24, 1024, 16, 4096, 50257, 1024}},
    {"llama_2_7b",
     R"({"_name_or_path": "meta-llama/Llama-2-7b-hf", "architectures": ["LlamaForCausalLM"], "bos_token_id": 1,
         "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
         "intermediate_size": 11008, "max_position_embeddings": 4096, "model_type": "llama", "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_scaling": null, "tie_word_embeddings": false, "torch_dtype": "float16",
         "transformers_version": "4.31.0.dev0", "use_cache": true, "vocab_size": 32000})",
     {32, 4096, 32, 11008, 32000, 2048, rotary_layers, 32, 128, false, false}},
    {"llama_3_2_1b",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009], "head_dim": 64, "hidden_act": "silu",
         "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 131072,
         "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
         "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                          "original_max_position_embeddings": 8192, "rope_type": "llama3"},
         "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 128256})",
     {16, 2048, 32, 8192, 128256, 2048, rotary_layers, 8, 64, true, false}},
    {"tinyllama",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 5632,
         "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 22,
         "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
         "rope_theta": 10000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "transformers_version": "4.35.0", "use_cache": true, "vocab_size": 32000})",
     {22, 2048, 32, 5632, 32000, 2048, rotary_layers, 4, 64, false, false}},
    {"smollm2_135m",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 1,
         "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 576, "initializer_range": 0.041666666666666664,
         "intermediate_size": 1536, "is_llama_config": true, "max_position_embeddings": 8192, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3,
         "pad_token_id": 2, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false,
         "rope_scaling": null, "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}},
         "transformers_version": "4.42.3", "use_cache": true, "vocab_size": 49152})",
     {30, 576, 9, 1536, 49152, 2048, rotary_layers, 3, 64, true, false}},
    {"mistral_7b",
     R"({"architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
         "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 32768,
         "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
         "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": false,
         "torch_dtype": "bfloat16", "transformers_version": "4.34.0.dev0", "use_cache": true, "vocab_size": 32000})",
     {32, 4096, 32, 14336, 32000, 2048, rotary_layers, 8, 128, false, false}},
    {"qwen2_5_0_5b",
     R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
         "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 896, "initializer_range": 0.02,
         "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 24, "model_type": "qwen2",
         "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
         "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.40.1", "use_cache": true, "use_mrope": false, "use_sliding_window": false,
         "vocab_size": 151936})",
     {24, 896, 14, 4864, 151936, 2048, rotary_layers, 2, 64, true, true}},
    {"qwen3_0_6b",
     R"({"architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024,
         "initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 40960,
         "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
         "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
         "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})",
     {28, 1024, 16, 3072, 151936, 2048, rotary_layers, 8, 128, true, false, true}},
    {"gemma_2_2b",
     R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "attn_logit_softcapping": 50.0, "bos_token_id": 2, "cache_implementation": "hybrid", "eos_token_id": 1,
         "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
         "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2304, "initializer_range": 0.02,
         "intermediate_size": 9216, "max_position_embeddings": 8192, "model_type": "gemma2",
         "num_attention_heads": 8, "num_hidden_layers": 26, "num_key_value_heads": 4, "pad_token_id": 0,
         "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096,
         "torch_dtype": "float32", "transformers_version": "4.42.4", "use_cache": true, "vocab_size": 256000})",
     gemma_2_shape()}};

/// What transformers 4.57.1 writes beside a family's own fields if all are asked for.
const json all_defaults = json::parse(
    R"({"_name_or_path": "", "add_cross_attention": false, "bad_words_ids": null, "begin_suppress_tokens": null,
        "chunk_size_feed_forward": 0, "cross_attention_hidden_size": null, "decoder_start_token_id": null,
        "diversity_penalty": 0.0, "do_sample": false, "dtype": null, "early_stopping": false,
        "encoder_no_repeat_ngram_size": 0, "exponential_decay_length_penalty": null, "finetuning_task": null,
        "forced_bos_token_id": null, "forced_eos_token_id": null, "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
        "is_decoder": false, "is_encoder_decoder": false, "label2id": {"LABEL_0": 0, "LABEL_1": 1},
        "length_penalty": 1.0, "max_length": 20, "min_length": 0, "no_repeat_ngram_size": 0, "num_beam_groups": 1,
        "num_beams": 1, "num_return_sequences": 1, "output_attentions": false, "output_hidden_states": false,
        "output_scores": false, "pad_token_id": null, "prefix": null, "problem_type": null, "pruned_heads": {},
        "remove_invalid_values": false, "repetition_penalty": 1.0, "return_dict": true,
        "return_dict_in_generate": false, "sep_token_id": null, "suppress_tokens": null, "task_specific_params": null,
        "temperature": 1.0, "tf_legacy_loss": false, "tie_encoder_decoder": false, "tokenizer_class": null,
        "top_k": 50, "top_p": 1.0, "torchscript": false, "typical_p": 1.0, "use_bfloat16": false})");

class PublishedConfig : public testing::TestWithParam<Published> {
 protected:
  CheckpointConfig read(const json& config) const {
    write_file(folder_.path() / "config.json", config.dump());
    return read_checkpoint_config(folder_.path() / "config.json");
  }
  TemporaryFolder folder_;
};

TEST_P(PublishedConfig, is_read_alone_and_with_all_defaults) {
  json config = json::parse(GetParam().text);
  EXPECT_EQ(read(config).shape, GetParam().shape);
  for (const auto& [field, value] : all_defaults.items()) {
    config.emplace(field, value);
  }
  EXPECT_EQ(read(config).shape, GetParam().shape);
}

TEST_P(PublishedConfig, values_that_change_what_is_said_are_refused_by_name) {
  const json good = json::parse(GetParam().text);
  const std::vector<std::pair<const char*, json>> changes = {{"n_special", 3},
                                                             {"prefix", "Once"},
                                                             {"num_beams", 4},
                                                             {"repetition_penalty", 1.2},
                                                             {"no_repeat_ngram_size", 3},
                                                             {"min_length", 10},
                                                             {"bad_words_ids", {{1}}},
                                                             {"suppress_tokens", {1, 2}},
                                                             {"forced_bos_token_id", 0},
                                                             {"cross_attention_hidden_size", 64},
                                                             {"tie_encoder_decoder", true},
                                                             {"is_encoder_decoder", true},
                                                             {"quantization_config", {{"quant_method", "gptq"}}},
                                                             {"auto_map", {{"AutoModelForCausalLM", "modeling.Model"}}},
                                                             {"num_local_experts", 8},
                                                             {"sparse_attention", true}};
  for (const auto& [field, value] : changes) {
    json config = good;
    config[field] = value;
    expect_input_error([&] { (void)read(config); }, field);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PublishedConfig, testing::ValuesIn(published),
                         [](const testing::TestParamInfo<Published>& instance) {
                           return std::string(instance.param.name);
                         });

}  // namespace
}  // namespace tessera::test
