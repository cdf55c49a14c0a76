#include "checkpoints/neutral_fields.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr const char* origin = "says where the model comes from";
constexpr const char* head = "belongs to classifiers that are made of the model";
constexpr const char* storage = "how values were stored or are computed with: here they are read as stored";
constexpr const char* outputs = "what a call of the library returns";
constexpr const char* training = "used in training only";
constexpr const char* tokens = "the tokenizer says it";
constexpr const char* sampling = "chooses among likely tokens or stops: generation here is greedy, of a chosen length";

constexpr IgnoredField ignored[] = {
    {"architectures", "families that have several check it"},
    {"_name_or_path", origin},
    {"_commit_hash", origin},
    {"name", origin},
    {"model_name", origin},
    {"license", origin},
    {"finetuning_task", origin},
    {"transformers_version", origin},
    {"id2label", head},
    {"label2id", head},
    {"num_labels", head},
    {"_num_labels", head},
    {"problem_type", head},
    {"dtype", storage},
    {"torch_dtype", storage},
    {"use_bfloat16", storage},
    {"torchscript", storage},
    {"attn_implementation", storage},
    {"_attn_implementation", storage},
    {"_attn_implementation_autoset", storage},
    {"_attn_implementation_internal", storage},
    {"chunk_size_feed_forward", "rows that go through the MLP at a time: each is on its own"},
    {"use_cache", "keys and values are kept or computed again: they are the same"},
    {"cache_implementation", "how they are kept"},
    {"output_attentions", outputs},
    {"output_hidden_states", outputs},
    {"output_past", outputs},
    {"output_scores", outputs},
    {"return_dict", outputs},
    {"use_return_dict", outputs},
    {"return_dict_in_generate", outputs},
    {"gradient_checkpointing", training},
    {"initializer_range", training},
    {"tf_legacy_loss", training},
    {"is_decoder", "a model that generates is one"},
    {"predict_special_tokens", "nothing reads it any more"},
    {"bos_token_id", tokens},
    {"eos_token_id", tokens},
    {"pad_token_id", tokens},
    {"sep_token_id", tokens},
    {"cls_token_id", tokens},
    {"unk_token_id", tokens},
    {"mask_token_id", tokens},
    {"tokenizer_class", tokens},
    {"decoder_start_token_id", "begins the decoder's text where there is an encoder"},
    {"task_specific_params", "options of the library's pipelines"},
    {"do_sample", sampling},
    {"temperature", sampling},
    {"top_k", sampling},
    {"top_p", sampling},
    {"min_p", sampling},
    {"typical_p", sampling},
    {"epsilon_cutoff", sampling},
    {"eta_cutoff", sampling},
    {"max_length", sampling},
    {"max_new_tokens", sampling},
    {"early_stopping", "of beams, of which there is one"},
    {"length_penalty", "of beams, of which there is one"},
    {"diversity_penalty", "of beams, of which there is one"},
    {"num_return_sequences", "copies of what greedy generation says"},
    {"remove_invalid_values", "no score is NaN or infinite"},
};

constexpr const char* other_model = "an encoder or a part of one would be computed too";
constexpr const char* other_scores = "would change scores, and so greedy generation";

const std::vector<NeutralField>& table() {
  static const std::vector<NeutralField> fields = {
      {"is_encoder_decoder", {false, nullptr}, other_model},
      {"add_cross_attention", {false, nullptr}, other_model},
      {"cross_attention_hidden_size", {nullptr}, other_model},
      {"tie_encoder_decoder", {false, nullptr}, other_model},
      {"pruned_heads", {json::object(), nullptr}, "heads would be left out"},
      {"quantization_config", {nullptr}, "weights would be stored in another way"},
      {"auto_map", {nullptr, json::object()}, "code that comes with the model would compute it"},
      {"n_special", {0, nullptr}, "rows of the embedding beyond vocab_size"},
      {"prefix", {nullptr, ""}, "a text that pipelines put before each prompt"},
      {"num_beams", {1, nullptr}, "generation would not be greedy"},
      {"num_beam_groups", {1, nullptr}, "generation would not be greedy"},
      {"penalty_alpha", {nullptr, 0}, "generation would not be greedy"},
      {"repetition_penalty", {1, nullptr}, other_scores},
      {"encoder_repetition_penalty", {1, nullptr}, other_scores},
      {"no_repeat_ngram_size", {0, nullptr}, other_scores},
      {"encoder_no_repeat_ngram_size", {0, nullptr}, other_scores},
      {"min_length", {0, nullptr}, other_scores},
      {"min_new_tokens", {nullptr, 0}, other_scores},
      {"bad_words_ids", {nullptr}, other_scores},
      {"force_words_ids", {nullptr}, other_scores},
      {"forced_bos_token_id", {nullptr}, other_scores},
      {"forced_eos_token_id", {nullptr}, other_scores},
      {"suppress_tokens", {nullptr}, other_scores},
      {"begin_suppress_tokens", {nullptr}, other_scores},
      {"sequence_bias", {nullptr}, other_scores},
      {"guidance_scale", {nullptr, 1}, other_scores},
      {"exponential_decay_length_penalty", {nullptr}, other_scores}};
  return fields;
}

}  // namespace

std::span<const IgnoredField> ignored_fields() { return ignored; }
std::span<const NeutralField> neutral_fields() { return table(); }

}  // namespace tessera
