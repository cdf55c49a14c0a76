#include <algorithm>
#include <set>
#include "base/errors.hpp"
#include "model/checkpoint.hpp"
#include "model/safetensors.hpp"

#include "model/json_file.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

fs::path find_weights(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model_f16.safetensors"}) {
    if (fs::exists(folder / name)) {
      return folder / name;
    }
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") {
      found.push_back(entry.path());
    }
  }
  if (found.size() != 1) {
    throw InputError(folder.string() + ": expected model.safetensors or one *.safetensors file, found " +
                     std::to_string(found.size()));
  }
  return found.front();
}

std::string list(const std::vector<std::size_t>& extents) {
  std::string text = "[";
  for (const std::size_t extent : extents) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

/// Hands out the tensors of a GPT-2 checkpoint under names without prefix and remembers which were asked for.
class TensorSource {
 public:
  explicit TensorSource(const fs::path& path) : file_(path) {
    const std::string prefix = "transformer.";
    for (const auto& [stored, entry] : file_.tensors()) {
      const std::string name = stored.starts_with(prefix) ? stored.substr(prefix.size()) : stored;
      if (!stored_.emplace(name, stored).second) {
        throw InputError(file_.name() + ": tensor " + printable(name) +
                         " is there with and without the prefix transformer.");
      }
    }
  }

  std::vector<float> take(const std::string& name, const std::vector<std::size_t>& extents) {
    const auto found = stored_.find(name);
    if (found == stored_.end()) {
      throw InputError(file_.name() + ": tensor " + name + " of shape " + list(extents) + " is missing");
    }
    const TensorEntry& entry = file_.tensors().at(found->second);
    if (entry.extents != extents) {
      throw InputError(file_.name() + ": tensor " + found->second + ".shape: expected " + list(extents) + ", found " +
                       list(entry.extents));
    }
    std::vector<float> values = file_.read(found->second);
    stored_.erase(found);
    return values;
  }

  /// Causal-mask buffers that older versions of the format store.
  void ignore_masks(const std::string& block) {
    stored_.erase(block + "attn.bias");
    stored_.erase(block + "attn.masked_bias");
  }

  void check_head(const std::vector<float>& embedding, const std::vector<std::size_t>& extents) {
    if (stored_.contains("lm_head.weight") && take("lm_head.weight", extents) != embedding) {
      throw InputError(file_.name() +
                       ": tensor lm_head.weight: expected the values of wte.weight (tied), found others");
    }
  }

  void refuse_rest() const {
    if (!stored_.empty()) {
      throw InputError(file_.name() + ": tensor " + printable(stored_.begin()->second) +
                       " does not belong to this model");
    }
  }

 private:
  SafetensorsFile file_;
  std::map<std::string, std::string> stored_;  // name without prefix -> name in the file
};

void append(std::vector<float>& target, const std::vector<float>& values) {
  target.insert(target.end(), values.begin(), values.end());
}

/// Appends columns [first, first + outputs) of an (inputs, width) matrix as an (outputs, inputs) one.
void append_transposed(std::vector<float>& target, const std::vector<float>& matrix, std::size_t inputs,
                       std::size_t width, std::size_t first, std::size_t outputs) {
  constexpr std::size_t tile = 32;  // rows that stay in cache while columns are walked
  const std::size_t begin = target.size();
  target.resize(begin + outputs * inputs);
  for (std::size_t base = 0; base < inputs; base += tile) {
    for (std::size_t out = 0; out < outputs; ++out) {
      for (std::size_t in = base; in < std::min(inputs, base + tile); ++in) {
        target[begin + out * inputs + in] = matrix[in * width + first + out];
      }
    }
  }
}

void read_block(TensorSource& source, std::size_t block, const ModelShape& shape, FloatParameters& parameters) {
  const std::size_t d = shape.n_embd;
  const std::size_t inner = shape.n_inner;
  const std::string name = "h." + std::to_string(block) + ".";
  append(parameters.gamma1, source.take(name + "ln_1.weight", {d}));
  append(parameters.beta1, source.take(name + "ln_1.bias", {d}));
  append(parameters.gamma2, source.take(name + "ln_2.weight", {d}));
  append(parameters.beta2, source.take(name + "ln_2.bias", {d}));
  const std::vector<float> attention = source.take(name + "attn.c_attn.weight", {d, 3 * d});
  append_transposed(parameters.wq, attention, d, 3 * d, 0, d);
  append_transposed(parameters.wk, attention, d, 3 * d, d, d);
  append_transposed(parameters.wv, attention, d, 3 * d, 2 * d, d);
  const std::vector<float> bias = source.take(name + "attn.c_attn.bias", {3 * d});
  const auto part = [&](std::size_t i) {
    const auto begin = bias.begin() + static_cast<std::ptrdiff_t>(i * d);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(d));
  };
  append(parameters.bq, part(0));
  append(parameters.bk, part(1));
  append(parameters.bv, part(2));
  append_transposed(parameters.wo, source.take(name + "attn.c_proj.weight", {d, d}), d, d, 0, d);
  append(parameters.bo, source.take(name + "attn.c_proj.bias", {d}));
  append_transposed(parameters.w1, source.take(name + "mlp.c_fc.weight", {d, inner}), d, inner, 0, inner);
  append(parameters.b1, source.take(name + "mlp.c_fc.bias", {inner}));
  append_transposed(parameters.w2, source.take(name + "mlp.c_proj.weight", {inner, d}), inner, d, 0, d);
  append(parameters.b2, source.take(name + "mlp.c_proj.bias", {d}));
  source.ignore_masks(name);
}

}  // namespace

FloatModel load_checkpoint(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw InputError(folder.string() + ": expected a folder with config.json and *.safetensors, found none");
  }
  const CheckpointConfig config = read_checkpoint_config(folder / "config.json");
  const ModelShape& shape = config.shape;
  FloatModel model{shape, config.layer_norm_epsilon, {}};
  TensorSource source(find_weights(folder));
  const std::vector<std::size_t> table = {shape.n_vocab, shape.n_embd};
  model.parameters.embedding = source.take("wte.weight", table);
  source.check_head(model.parameters.embedding, table);
  model.parameters.position = source.take("wpe.weight", {shape.n_positions, shape.n_embd});
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    read_block(source, block, shape, model.parameters);
  }
  model.parameters.gammaf = source.take("ln_f.weight", {shape.n_embd});
  model.parameters.betaf = source.take("ln_f.bias", {shape.n_embd});
  source.refuse_rest();
  return model;
}

}  // namespace tessera
