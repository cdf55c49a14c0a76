#include <algorithm>
#include <set>
#include "base/errors.hpp"
#include "base/side_by_side.hpp"
#include "base/text.hpp"
#include "model/checkpoint.hpp"
#include "model/checkpoint_tensors.hpp"

#include "model/gguf/config.hpp"
#include "model/json_file.hpp"
#include "model/tensor_naming.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string list_of(const std::vector<std::size_t>& extents) { return nlohmann::json(extents).dump(); }

/// Hands out the tensors of a checkpoint under names without prefix and remembers which belong to the model.
class TensorSource {
 public:
  TensorSource(const StoredTensors& tensors, const std::string& prefix) : tensors_(tensors) {
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
      throw InputError(tensors_.place_of(name) + ": tensor " + name + " of shape " + list_of(extents) + " is missing");
    }
    const TensorEntry& entry = tensors_.entry(found->second);
    if (entry.extents != extents) {
      throw InputError(tensors_.place_of(found->second) + ": tensor " + found->second + ".shape: expected " +
                       list_of(extents) + ", found " + list_of(entry.extents));
    }
  }

  /// All values of a checked tensor.
  [[nodiscard]] std::vector<float> read(const std::string& name) const { return tensors_.read(stored_.at(name)); }

  /// Rows of a checked tensor, with no other memory for them.
  void read_rows(const std::string& name, Range rows, std::span<float> values) const {
    tensors_.read_rows(stored_.at(name), rows, values);
  }

  /// No complaint if it is there and nothing else is made of it.
  void ignore(const std::string& name) { unused_.erase(name); }
  void ignore_rotary_buffers() {
    std::erase_if(unused_, [](const std::string& name) { return is_rotary_buffer(name); });
  }

  /// The head of a tied model, if it is stored.
  void check_head(const std::string& name, std::span<const float> tied, const std::string& embedding,
                  const std::vector<std::size_t>& extents) {
    if (!stored_.contains(name)) {
      return;
    }
    check(name, extents);
    ignore(name);
    std::vector<float> row(extents.back());
    for (std::size_t first = 0; first < extents.front(); ++first) {
      read_rows(name, {first, first + 1}, row);
      if (!std::ranges::equal(row, tied.subspan(first * row.size(), row.size()))) {
        throw InputError(tensors_.place_of(stored_.at(name)) + ": tensor " + name + ": expected the values of " +
                         embedding + " (tied), found others");
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
  const StoredTensors& tensors_;
  std::map<std::string, std::string> stored_;  // name without prefix -> as stored
  std::set<std::string> unused_;               // names without prefix
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
void for_each_place(const ModelShape& shape, const TensorNaming& naming, Visitor&& visit) {
  for (const ParameterRow& row : parameter_table(shape)) {
    if (!row.per_block) {
      visit(row, std::size_t{0}, naming.of(row.checkpoint.tensor));
    }
  }
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (const ParameterRow& row : parameter_table(shape)) {
      if (row.per_block) {
        visit(row, block, naming.of(block, row.checkpoint.tensor));
      }
    }
  }
}

std::vector<std::size_t> stored_extents(const ParameterRow& row, const ModelShape& shape, const TensorNaming& naming) {
  const ParameterExtents extents = row.extents(shape);
  std::vector<std::size_t> stored{row.checkpoint.parts * extents.rows};
  if (row.columns != ParameterAxis::none) {
    stored.insert(row.checkpoint.transposed && naming.transposed ? stored.begin() : stored.end(), extents.columns);
  }
  return stored;
}

/// Rows of heads from the order (place, half) to (half, place).
void separate_halves(std::span<float> rows, std::size_t head_size, std::size_t columns) {
  std::vector<float> head(head_size * columns);
  for (std::size_t begin = 0; begin < rows.size(); begin += head.size()) {
    const std::span<float> target = rows.subspan(begin, head.size());
    std::ranges::copy(target, head.begin());
    for (std::size_t row = 0; row < head_size; ++row) {
      const std::size_t from = row % (head_size / 2) * 2 + row / (head_size / 2);
      std::copy_n(head.begin() + static_cast<std::ptrdiff_t>(from * columns), columns,
                  target.begin() + static_cast<std::ptrdiff_t>(row * columns));
    }
  }
}

/// A stored tensor and what is made of it.
struct StoredUse {
  std::string name;
  std::vector<std::pair<ParameterRow, std::size_t>> parts;  // with block
};

/// All tensors that a model has, each once.
std::vector<StoredUse> stored_uses(const ModelShape& shape, const TensorNaming& naming) {
  std::vector<StoredUse> uses;
  for_each_place(shape, naming, [&](const ParameterRow& row, std::size_t block, const std::string& name) {
    if (uses.empty() || uses.back().name != name) {  // parts of one follow each other
      uses.push_back({name, {}});
    }
    uses.back().parts.emplace_back(row, block);
  });
  return uses;
}

/// Copies the parts of a stored tensor where they belong.
void copy_parts(const StoredUse& use, const TensorNaming& naming, const TensorSource& source, FloatModel& model) {
  const bool transposed = use.parts.front().first.checkpoint.transposed && naming.transposed;
  const std::vector<float> matrix = transposed ? source.read(use.name) : std::vector<float>();
  for (const auto& [row, block] : use.parts) {
    const RowBlock<float> target = model.parameters[row.id].block(block);
    const std::size_t first = row.checkpoint.part * target.held.size();
    const std::span<float> values = target.rows(target.held);
    if (transposed) {
      copy_transposed(values, matrix, target.columns, row.checkpoint.parts * target.held.size(), first);
    } else {
      source.read_rows(use.name, {first, first + target.held.size()}, values);
    }
    if (naming.interleaved && (row.id == wq || row.id == wk)) {
      separate_halves(values, model.shape.head_size(), target.columns);
    }
  }
}

FloatModel load(const CheckpointConfig& config, const StoredTensors& tensors, const TensorNaming& naming) {
  const ModelShape& shape = config.shape;
  TensorSource source(tensors, naming.prefix);
  // before memory is taken for what the configuration says
  for_each_place(shape, naming, [&](const ParameterRow& row, std::size_t /*block*/, const std::string& name) {
    source.check(name, stored_extents(row, shape, naming));
  });
  FloatModel model{shape, config.layer_norm_epsilon, FloatParameters(shape), config.rope, config.activation};
  const std::vector<StoredUse> uses = stored_uses(shape, naming);
  for (const StoredUse& use : uses) {
    source.ignore(use.name);
  }
  run_side_by_side(uses.size(), [&](std::size_t i) { copy_parts(uses[i], naming, source, model); });
  for (const std::string& name : naming.ignored) {
    source.ignore(name);
  }
  source.ignore_rotary_buffers();
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (const std::string& name : naming.block_ignored) {
      source.ignore(naming.block + std::to_string(block) + "." + name);
    }
  }
  if (shape.tied) {
    source.check_head(naming.of("lm_head.weight"), model.parameters[embedding].values(),
                      naming.of(parameter_row(shape, embedding).checkpoint.tensor), {shape.n_vocab, shape.n_embd});
  }
  source.refuse_rest();
  return model;
}

}  // namespace

FloatModel load_checkpoint(const CheckpointFiles& files, std::optional<std::size_t> context) {
  if (files.format == CheckpointFormat::gguf) {
    const GgufFile file(files.weights);
    return load(read_gguf_config(file, context), file, gguf_naming(file));
  }
  const CheckpointConfig config = read_checkpoint_config(files.folder / "config.json", context);
  return load(config, CheckpointTensors(files.weights), folder_naming(config.shape));
}

FloatModel load_checkpoint(const fs::path& path, std::optional<std::size_t> context) {
  return load_checkpoint(find_checkpoint(path), context);
}

}  // namespace tessera
