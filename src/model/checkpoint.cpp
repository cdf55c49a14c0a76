#include <algorithm>
#include <set>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "model/checkpoint.hpp"
#include "model/checkpoint_tensors.hpp"

#include "model/json_file.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string list(const std::vector<std::size_t>& extents) { return nlohmann::json(extents).dump(); }

/// How the tensors of an architecture's checkpoints are named.
struct Naming {
  std::string prefix;                // which may be left out
  std::string block;                 // comes before the number of a block
  std::vector<std::string> ignored;  // buffers of a block that older versions of the format store
};

Naming naming_of(const ModelShape& shape) {
  return shape.gpt2() ? Naming{"transformer.", "h.", {"attn.bias", "attn.masked_bias"}}
                      : Naming{"", "model.layers.", {"self_attn.rotary_emb.inv_freq"}};
}

/// Hands out the tensors of a checkpoint under names without prefix and remembers which were asked for.
class TensorSource {
 public:
  TensorSource(const fs::path& folder, const std::string& prefix) : tensors_(folder) {
    for (const std::string& stored : tensors_.names()) {
      const std::string name = stored.starts_with(prefix) ? stored.substr(prefix.size()) : stored;
      if (!stored_.emplace(name, stored).second) {
        throw InputError(tensors_.place_of(stored) + ": tensor " + quoted_name(name) +
                         " is there with and without the prefix " + prefix);
      }
      unused_.insert(name);
    }
  }

  void check(const std::string& name, const std::vector<std::size_t>& extents) const {
    const auto found = stored_.find(name);
    if (found == stored_.end()) {
      throw InputError(tensors_.place_of(name) + ": tensor " + name + " of shape " + list(extents) + " is missing");
    }
    const TensorEntry& entry = tensors_.entry(found->second);
    if (entry.extents != extents) {
      throw InputError(tensors_.place_of(found->second) + ": tensor " + found->second + ".shape: expected " +
                       list(extents) + ", found " + list(entry.extents));
    }
  }

  /// Values of a checked tensor. They stay until another one is taken: parts of one tensor are asked for in a row.
  const std::vector<float>& take(const std::string& name) {
    if (name != taken_) {
      values_ = tensors_.read(stored_.at(name));
      unused_.erase(name);
      taken_ = name;
    }
    return values_;
  }

  /// Rows of a checked tensor, with no other memory for them.
  void read_rows(const std::string& name, Range rows, std::span<float> values) {
    tensors_.read_rows(stored_.at(name), rows, values);
    unused_.erase(name);
  }

  void ignore(const std::string& name) { unused_.erase(name); }

  void check_head(std::span<const float> tied, std::string_view embedding, const std::vector<std::size_t>& extents) {
    if (!stored_.contains("lm_head.weight")) {
      return;
    }
    check("lm_head.weight", extents);
    std::vector<float> row(extents.back());
    for (std::size_t first = 0; first < extents.front(); ++first) {
      read_rows("lm_head.weight", {first, first + 1}, row);
      if (!std::ranges::equal(row, tied.subspan(first * row.size(), row.size()))) {
        throw InputError(tensors_.place_of(stored_.at("lm_head.weight")) +
                         ": tensor lm_head.weight: expected the values of " + std::string(embedding) +
                         " (tied), found others");
      }
    }
  }

  void refuse_rest() const {
    if (!unused_.empty()) {
      const std::string& stored = stored_.at(*unused_.begin());
      throw InputError(tensors_.place_of(stored) + ": tensor " + quoted_name(stored) +
                       " does not belong to this model");
    }
  }

 private:
  CheckpointTensors tensors_;
  std::map<std::string, std::string> stored_;  // name without prefix -> as stored
  std::set<std::string> unused_;               // names without prefix
  std::string taken_;
  std::vector<float> values_;
};

/// Copies columns [first, first + outputs) of an (inputs, width) matrix to an (outputs, inputs) one.
void copy_transposed(std::span<float> target, const std::vector<float>& matrix, std::size_t inputs, std::size_t width,
                     std::size_t first) {
  constexpr std::size_t tile = 32;  // rows that stay in cache while columns are walked
  const std::size_t outputs = target.size() / inputs;
  for (std::size_t base = 0; base < inputs; base += tile) {
    for (std::size_t out = 0; out < outputs; ++out) {
      for (std::size_t in = base; in < std::min(inputs, base + tile); ++in) {
        target[out * inputs + in] = matrix[in * width + first + out];
      }
    }
  }
}

/// Calls visit(row, block, name of the tensor) for all parameters and blocks, those of a block one after the other.
template <class Visitor>
void for_each_place(const ModelShape& shape, Visitor&& visit) {
  const std::string prefix = naming_of(shape).block;
  for (const ParameterRow& row : parameter_table(shape)) {
    if (!row.per_block) {
      visit(row, std::size_t{0}, std::string(row.checkpoint.tensor));
    }
  }
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (const ParameterRow& row : parameter_table(shape)) {
      if (row.per_block) {
        visit(row, block, prefix + std::to_string(block) + "." + std::string(row.checkpoint.tensor));
      }
    }
  }
}

std::vector<std::size_t> stored_extents(const ParameterRow& row, const ModelShape& shape) {
  const ParameterExtents extents = row.extents(shape);
  std::vector<std::size_t> stored{row.checkpoint.parts * extents.rows};
  if (row.columns != ParameterAxis::none) {
    stored.insert(row.checkpoint.transposed ? stored.begin() : stored.end(), extents.columns);
  }
  return stored;
}

/// Copies a parameter's part of a stored tensor.
void copy_part(const CheckpointPlace& place, const std::string& name, TensorSource& source,
               const RowBlock<float>& target) {
  const std::size_t first = place.part * target.held.size();
  const std::span<float> values = target.rows(target.held);
  if (place.transposed) {
    copy_transposed(values, source.take(name), target.columns, place.parts * target.held.size(), first);
  } else {
    source.read_rows(name, {first, first + target.held.size()}, values);
  }
}

}  // namespace

FloatModel load_checkpoint(const fs::path& folder, std::optional<std::size_t> context) {
  if (!fs::is_directory(folder)) {
    throw InputError(folder.string() + ": expected a folder with config.json and *.safetensors, found none");
  }
  const CheckpointConfig config = read_checkpoint_config(folder / "config.json", context);
  const ModelShape& shape = config.shape;
  const Naming naming = naming_of(shape);
  TensorSource source(folder, naming.prefix);
  // before memory is taken for what config.json says
  for_each_place(shape, [&](const ParameterRow& row, std::size_t /*block*/, const std::string& name) {
    source.check(name, stored_extents(row, shape));
  });
  FloatModel model{shape, config.layer_norm_epsilon, FloatParameters(shape), config.rope, config.activation};
  for_each_place(shape, [&](const ParameterRow& row, std::size_t block, const std::string& name) {
    copy_part(row.checkpoint, name, source, model.parameters[row.id].block(block));
  });
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (const std::string& name : naming.ignored) {
      source.ignore(naming.block + std::to_string(block) + "." + name);
    }
  }
  if (shape.tied) {
    source.check_head(model.parameters[embedding].values(), parameter_row(shape, embedding).checkpoint.tensor,
                      {shape.n_vocab, shape.n_embd});
  }
  source.refuse_rest();
  return model;
}

}  // namespace tessera
