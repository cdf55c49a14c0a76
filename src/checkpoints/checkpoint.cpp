#include <algorithm>
#include <map>
#include <set>
#include "base/errors.hpp"
#include "base/side_by_side.hpp"
#include "base/text.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/checkpoint_tensors.hpp"

#include "checkpoints/gguf/config.hpp"
#include "checkpoints/json_file.hpp"
#include "checkpoints/families/family.hpp"

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

/// Calls visit(row, block) for all parameters of checkpoints and blocks, those of a block one after the other.
template <class Visitor>
void for_each_place(const ModelShape& shape, Visitor&& visit) {
  for (const ParameterRow& row : parameter_table(shape)) {
    if (!row.per_block && !piece_of(row.id)) {
      visit(row, std::size_t{0});
    }
  }
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (const ParameterRow& row : parameter_table(shape)) {
      if (row.per_block && !piece_of(row.id)) {
        visit(row, block);
      }
    }
  }
}

/// Rows of all parameters that stand in a parameter's tensor, and of those before it.
struct FusedRows {
  std::size_t all = 0, before = 0;
};

FusedRows fused_rows(const ParameterRow& row, const TensorPlace& place, const ModelShape& shape) {
  if (place.fused.empty()) {
    return {row.extents(shape).rows, 0};
  }
  FusedRows rows;
  for (const ParameterId id : place.fused) {
    rows.before = id == row.id ? rows.all : rows.before;
    rows.all += parameter_row(shape, id).extents(shape).rows;
  }
  return rows;
}

std::vector<std::size_t> stored_extents(const ParameterRow& row, const TensorPlace& place, const ModelShape& shape) {
  const ParameterExtents extents = row.extents(shape);
  std::vector<std::size_t> stored{place.skipped + fused_rows(row, place, shape).all};
  if (row.columns != ParameterAxis::none) {
    stored.insert(place.transposed ? stored.begin() : stored.end(), extents.columns);
  }
  return stored;
}

/// A stored tensor and what is made of it.
struct StoredUse {
  std::string name;
  std::vector<std::pair<ParameterRow, std::size_t>> parts;  // with block
};

/// All tensors that a model has, each once.
std::vector<StoredUse> stored_uses(const ModelShape& shape, const TensorNames& names) {
  std::vector<StoredUse> uses;
  std::map<std::string, std::size_t> known;
  for_each_place(shape, [&](const ParameterRow& row, std::size_t block) {
    const std::string name = names.of(row, block);
    const auto [found, fresh] = known.emplace(name, uses.size());
    if (fresh) {
      uses.push_back({name, {}});
    }
    uses[found->second].parts.emplace_back(row, block);
  });
  return uses;
}

/// Copies a part's rows, which may be those of each head in turn.
void copy_rows(const StoredUse& use, const ParameterRow& row, const TensorPlace& place, const ModelShape& shape,
               const TensorSource& source, RowBlock<float> target) {
  const FusedRows fused = fused_rows(row, place, shape);
  const std::size_t rows = target.held.size();
  const std::size_t pieces = place.by_head ? shape.kv_heads() : 1;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t first = place.skipped + (piece * fused.all + fused.before) / pieces;
    const Range own{piece * rows / pieces, (piece + 1) * rows / pieces};
    source.read_rows(use.name, {first, first + own.size()}, target.rows(own));
  }
}

/// Copies the parts of a stored tensor where they belong.
void copy_parts(const StoredUse& use, const TensorNames& names, const TensorSource& source, FloatModel& model) {
  const bool transposed = names.places.at(use.parts.front().first.id).transposed;
  const std::vector<float> matrix = transposed ? source.read(use.name) : std::vector<float>();
  for (const auto& [row, block] : use.parts) {
    const TensorPlace& place = names.places.at(row.id);
    const RowBlock<float> target = model.parameters[row.id].block(block);
    const std::span<float> values = target.rows(target.held);
    if (transposed) {
      const FusedRows fused = fused_rows(row, place, model.shape);
      copy_transposed(values, matrix, target.columns, fused.all, fused.before);
    } else {
      copy_rows(use, row, place, model.shape, source, target);
    }
    const bool turned =
        row.id == wq || row.id == wk || row.id == bq || row.id == bk || row.id == gamma_q || row.id == gamma_k;
    if (model.shape.rotary() && turned) {
      order_places(names, values, model.shape.head_size(), target.columns);
    }
    if (place.less_one) {
      std::ranges::transform(values, values.begin(), [](float value) { return value + 1.0F; });
    }
  }
}

FloatModel load(const FamilyModel& family, const StoredTensors& tensors) {
  const CheckpointConfig& config = family.config;
  const TensorNames& names = family.names;
  const ModelShape& shape = config.shape;
  TensorSource source(tensors, names.prefix);
  // before memory is taken for what the configuration says
  for_each_place(shape, [&](const ParameterRow& row, std::size_t block) {
    source.check(names.of(row, block), stored_extents(row, names.places.at(row.id), shape));
  });
  FloatModel model{shape,        config.layer_norm_epsilon, FloatParameters(shape),
                   config.ropes, config.activation,         config.factors,
                   config.caps};
  const std::vector<StoredUse> uses = stored_uses(shape, names);
  for (const StoredUse& use : uses) {
    source.ignore(use.name);
  }
  run_side_by_side(uses.size(), [&](std::size_t i) { copy_parts(uses[i], names, source, model); });
  for (const std::string& name : names.ignored) {
    source.ignore(name);
  }
  source.ignore_rotary_buffers();
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (const std::string& name : names.block_ignored) {
      source.ignore(names.block + std::to_string(block) + "." + name);
    }
  }
  if (shape.tied && !names.tied_head.empty()) {
    source.check_head(names.tied_head, model.parameters[embedding].values(), names.places.at(embedding).tensor,
                      {shape.n_vocab, shape.n_embd});
  }
  source.refuse_rest();
  return model;
}

}  // namespace

FloatModel load_checkpoint(const CheckpointFiles& files, std::optional<std::size_t> context) {
  if (files.format == CheckpointFormat::gguf) {
    const GgufFile file(files.weights);
    return load(read_gguf_family(file, context), file);
  }
  return load(read_family(files.folder / "config.json", context), CheckpointTensors(files.weights));
}

FloatModel load_checkpoint(const fs::path& path, std::optional<std::size_t> context) {
  return load_checkpoint(find_checkpoint(path), context);
}

}  // namespace tessera
