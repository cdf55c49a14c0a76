#include <algorithm>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "plan/limits.hpp"
#include "model/checkpoint.hpp"

#include "model/json_file.hpp"

namespace tessera {
namespace {

using nlohmann::json;

/// Fields of GPT-2 configurations that do not change what inference computes.
constexpr std::string_view ignored_fields[] = {"architectures",
                                               "attn_pdrop",
                                               "bos_token_id",
                                               "dtype",
                                               "embd_pdrop",
                                               "eos_token_id",
                                               "finetuning_task",
                                               "gradient_checkpointing",
                                               "id2label",
                                               "initializer_range",
                                               "is_decoder",
                                               "label2id",
                                               "license",
                                               "model_name",
                                               "name",
                                               "_name_or_path",
                                               "num_labels",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "output_past",
                                               "pad_token_id",
                                               "predict_special_tokens",
                                               "resid_pdrop",
                                               "return_dict",
                                               "summary_activation",
                                               "summary_first_dropout",
                                               "summary_proj_to_labels",
                                               "summary_type",
                                               "summary_use_proj",
                                               "task_specific_params",
                                               "torch_dtype",
                                               "transformers_version",
                                               "use_cache"};

/// Takes fields off a configuration one by one, so that what is left over is unknown.
class Fields {
 public:
  Fields(json root, std::string file) : root_(std::move(root)), file_(std::move(file)) {}

  std::size_t size(const std::string& name, std::string_view limit) {
    const json value = take(name);
    if (!value.is_number_unsigned()) {
      refuse(name, "a positive integer", value);
    }
    check_limit(limit, value.get<std::uint64_t>(), file_ + ": " + name);
    return value.get<std::size_t>();
  }

  /// Absent means the first of the accepted values.
  void one_of(const std::string& name, const std::vector<json>& accepted) {
    const json value = root_.contains(name) ? take(name) : accepted.front();
    if (std::ranges::find(accepted, value) == accepted.end()) {
      refuse(name, "one of " + json(accepted).dump(), value);
    }
  }

  double positive(const std::string& name, double absent) {
    const json value = root_.contains(name) ? take(name) : json(absent);
    if (!value.is_number() || !(value.get<double>() > 0) || !(value.get<double>() < 1)) {
      refuse(name, "a number between 0 and 1", value);
    }
    return value.get<double>();
  }

  [[nodiscard]] bool has_value(const std::string& name) const {
    return root_.contains(name) && !root_.at(name).is_null();
  }
  void drop(const std::string& name) { root_.erase(name); }

  void refuse_rest() const {
    for (const auto& [name, value] : root_.items()) {
      if (std::ranges::find(ignored_fields, name) == std::end(ignored_fields)) {
        throw InputError(file_ + ": field " + quoted_name(name) + " is not supported, found " +
                         value.dump().substr(0, 80));
      }
    }
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& expected, const json& found) const {
    throw InputError(file_ + ": " + name + ": expected " + expected + ", found " + found.dump().substr(0, 80));
  }

 private:
  json take(const std::string& name) {
    if (!root_.contains(name)) {
      throw InputError(file_ + ": " + name + ": expected a value, found none");
    }
    json value = root_.at(name);
    root_.erase(name);
    return value;
  }

  json root_;
  std::string file_;
};

}  // namespace

CheckpointConfig read_checkpoint_config(const std::filesystem::path& file) {
  Fields fields(parse_json_object(read_file(file, 1U << 20U), file.string()), file.string());
  CheckpointConfig config;
  ModelShape& shape = config.shape;
  if (!fields.has_value("model_type")) {
    fields.refuse("model_type", "\"gpt2\"", nullptr);
  }
  fields.one_of("model_type", {"gpt2"});
  shape.n_layer = fields.size("n_layer", "n_layer");
  shape.n_embd = fields.size("n_embd", "n_embd");
  shape.n_head = fields.size("n_head", "n_head");
  shape.n_vocab = fields.size("vocab_size", "n_vocab");
  shape.n_positions = fields.size("n_positions", "n_positions");
  if (shape.n_positions < 2) {
    fields.refuse("n_positions", "at least 2", shape.n_positions);
  }
  if (shape.n_embd % shape.n_head != 0) {
    fields.refuse("n_embd", "a multiple of n_head = " + std::to_string(shape.n_head), shape.n_embd);
  }
  if (fields.has_value("n_inner")) {
    shape.n_inner = fields.size("n_inner", "n_inner");
  } else {
    shape.n_inner = 4 * shape.n_embd;
    fields.drop("n_inner");
  }
  config.layer_norm_epsilon = fields.positive("layer_norm_epsilon", 1e-5);
  fields.one_of("n_ctx", {shape.n_positions});
  fields.one_of("activation_function", {"gelu_new", "gelu_pytorch_tanh"});
  fields.one_of("tie_word_embeddings", {true});
  fields.one_of("scale_attn_weights", {true});
  fields.one_of("scale_attn_by_inverse_layer_idx", {false});
  fields.one_of("reorder_and_upcast_attn", {false});
  fields.one_of("add_cross_attention", {false});
  fields.one_of("is_encoder_decoder", {false});
  fields.one_of("pruned_heads", {json::object(), nullptr});
  fields.refuse_rest();
  return config;
}

}  // namespace tessera
