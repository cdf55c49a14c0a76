#include <cmath>
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"
#include "arithmetic/row_share.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"

#include "archive/hdf5_handle.hpp"
#include "archive/naming.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t max_merges = 2 * max_vocabulary;
constexpr std::size_t max_maxima = 1024;

template <class S, class Visitor>
void for_each_size(S& shape, Visitor&& visit) {
  visit("shape/n_layer", shape.n_layer);
  visit("shape/n_embd", shape.n_embd);
  visit("shape/n_head", shape.n_head);
  visit("shape/n_inner", shape.n_inner);
  visit("shape/n_vocab", shape.n_vocab);
  visit("shape/n_positions", shape.n_positions);
}

/// Dimensions without those of length 1 that for_each_parameter adds: a tensor per block keeps its block dimension.
Extents file_extents(const ParameterExtents& extents, bool per_block) {
  Extents result;
  if (per_block) {
    result.push_back(extents.blocks);
  }
  result.push_back(extents.rows);
  if (extents.columns > 1) {
    result.push_back(extents.columns);
  }
  return result;
}

bool is_per_block(std::string_view name) {
  return name != "embedding" && name != "position" && name != "gammaf" && name != "betaf";
}

template <class T>
void write_parameters(WriteFile& file, const std::string& group, const ModelShape& shape,
                      const BasicParameters<T>& parameters) {
  for_each_parameter(
      shape, parameters,
      [&](std::string_view name, const ParameterExtents& extents, const typename BasicParameters<T>::Tensor& tensor) {
        file.write(group + std::string(name), std::span<const T>(tensor), file_extents(extents, is_per_block(name)));
      });
}

template <class T>
BasicParameters<T> read_parameters(const ReadFile& file, const std::string& group, const ModelShape& shape) {
  BasicParameters<T> parameters;
  for_each_parameter(
      shape, parameters,
      [&](std::string_view name, const ParameterExtents& extents, typename BasicParameters<T>::Tensor& tensor) {
        tensor.resize(extents.count());
        file.read_into<T>(group + std::string(name), file_extents(extents, is_per_block(name)), std::span(tensor));
      });
  return parameters;
}

/// The rows of this rank. The ranks share the work of checking the digests: each reads some tensors whole, in pieces.
Parameters read_own_parameters(const ReadFile& file, const ModelShape& shape, int rank, int ranks) {
  const RowShare share = RowShare::of(shape, rank, ranks);
  Parameters parameters;
  int number = 0;
  for_each_parameter(
      shape, parameters,
      [&](std::string_view name, const ParameterExtents& extents, SparseVector<std::int16_t>& tensor) {
        const std::string path = "parameters/" + std::string(name);
        if (number++ % ranks == rank) {
          file.check(path);
        }
        tensor.resize(extents.count());
        const Range rows = share.of_parameter(name, extents.rows);
        const std::size_t row = extents.columns;
        for (std::size_t block = 0; block < extents.blocks; ++block) {
          Extents start{rows.first};
          Extents count{rows.size()};
          if (is_per_block(name)) {
            start.insert(start.begin(), block);
            count.insert(count.begin(), 1);
          }
          if (extents.columns > 1) {
            start.push_back(0);
            count.push_back(extents.columns);
          }
          const auto values = std::span(tensor).subspan((block * extents.rows + rows.first) * row, rows.size() * row);
          file.read_box<std::int16_t>(path, file_extents(extents, is_per_block(name)), start, count, values);
        }
      });
  return parameters;
}

/// Shape and epsilon, in the supported ranges.
FloatModel read_head(const ReadFile& file) {
  FloatModel model;
  for_each_size(model.shape,
                [&](const char* name, std::size_t& size) { size = file.read_scalar<std::uint64_t>(name); });
  model.layer_norm_epsilon = file.read_scalar<double>("layer_norm_epsilon");
  check_shape(model.shape);
  if (!(model.layer_norm_epsilon >= 0 && model.layer_norm_epsilon <= 1)) {
    file.fail("layer_norm_epsilon", "0 to 1", std::to_string(model.layer_norm_epsilon));
  }
  check_epsilon(model.shape, IntegerConstants::of(model.shape, model.layer_norm_epsilon).epsilon);
  return model;
}

double read_positive(const ReadFile& file, const std::string& name) {
  const auto value = file.read_scalar<double>(name);
  if (!std::isfinite(value) || value < 0) {
    file.fail(name, "a finite number that is not negative", std::to_string(value));
  }
  return value;
}

}  // namespace

Digest save_model(const std::filesystem::path& path, const Model& model, const FloatParameters* original) {
  WriteFile file(path, model_format);
  for_each_size(model.shape, [&](const char* name, std::size_t size) { file.write_scalar<std::uint64_t>(name, size); });
  file.write_scalar("layer_norm_epsilon", model.layer_norm_epsilon);
  for_each_exponent(model.exponents, [&](std::string_view name, std::int32_t value) {
    file.write_scalar("exponents/" + std::string(name), value);
  });
  file.write_scalar("calibration/margin", model.calibration.margin);
  for (const auto& [name, value] : model.calibration.maxima) {
    file.write_scalar("calibration/maxima/" + name, value);
  }
  write_parameters(file, "parameters/", model.shape, model.parameters);
  file.write_strings("tokenizer/vocabulary", model.tokenizer.vocabulary);
  file.write_strings("tokenizer/merges", model.tokenizer.merges);
  file.write_scalar("tokenizer/end_of_text", model.tokenizer.end_of_text);
  if (original != nullptr) {
    write_parameters(file, "float/", model.shape, *original);
  }
  return file.commit();
}

Model load_model(const std::filesystem::path& path, int rank, int ranks) {
  return naming(path, [&] {
    const ReadFile file(path, model_format);
    const FloatModel head = read_head(file);
    Model model;
    model.shape = head.shape;
    model.layer_norm_epsilon = head.layer_norm_epsilon;
    for_each_exponent(model.exponents, [&](std::string_view name, std::int32_t& value) {
      value = file.read_scalar<std::int32_t>("exponents/" + std::string(name));
    });
    check_exponents(model.exponents);
    model.calibration.margin = read_positive(file, "calibration/margin");
    const std::vector<std::string> kinds = file.names_in("calibration/maxima");
    if (kinds.size() > max_maxima) {
      file.fail("calibration/maxima", "at most " + std::to_string(max_maxima), std::to_string(kinds.size()));
    }
    for (const std::string& kind : kinds) {
      model.calibration.maxima[kind] = read_positive(file, "calibration/maxima/" + kind);
    }
    model.parameters = ranks == 1 ? read_parameters<std::int16_t>(file, "parameters/", model.shape)
                                  : read_own_parameters(file, model.shape, rank, ranks);
    model.tokenizer.vocabulary = file.read_strings("tokenizer/vocabulary", model.shape.n_vocab, max_vocabulary_bytes);
    if (model.tokenizer.vocabulary.size() != model.shape.n_vocab) {
      file.fail("tokenizer/vocabulary", std::to_string(model.shape.n_vocab) + " entries",
                std::to_string(model.tokenizer.vocabulary.size()));
    }
    model.tokenizer.merges = file.read_strings("tokenizer/merges", max_merges, max_vocabulary_bytes);
    model.tokenizer.end_of_text = file.read_scalar<std::uint32_t>("tokenizer/end_of_text");
    if (model.tokenizer.end_of_text >= model.shape.n_vocab) {
      file.fail("tokenizer/end_of_text", "below " + std::to_string(model.shape.n_vocab),
                std::to_string(model.tokenizer.end_of_text));
    }
    return model;
  });
}

Digest parameters_digest(const std::filesystem::path& path) {
  const ReadFile file(path, model_format);
  std::map<std::string, DatasetInfo> parameters;
  for (const std::string& name : file.names_in("parameters")) {
    parameters.emplace(name, file.datasets().at("parameters/" + name));
  }
  return hdf5::file_digest("tessera parameters", format_version, parameters);
}

std::optional<FloatModel> load_float_model(const std::filesystem::path& path) {
  return naming(path, [&]() -> std::optional<FloatModel> {
    const ReadFile file(path, model_format);
    if (!file.contains("float/embedding")) {
      return std::nullopt;
    }
    FloatModel model = read_head(file);
    model.parameters = read_parameters<float>(file, "float/", model.shape);
    return model;
  });
}

}  // namespace tessera
