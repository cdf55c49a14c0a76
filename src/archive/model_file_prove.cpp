#include <algorithm>
#include <cmath>
#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"

#include "archive/hdf5_handle.hpp"
#include "archive/naming.hpp"
#include "archive/origin_fields.hpp"
#include "archive/tokenizer_fields.hpp"
#include "base/side_by_side.hpp"
#include "base/text.hpp"

namespace tessera {
namespace {

constexpr std::size_t max_maxima = 1024;

/// Extents in the file: without those of length 1 that ParameterExtents adds.
Extents file_extents(const ParameterRow& row, const ModelShape& shape) {
  const ParameterExtents extents = row.extents(shape);
  Extents result{extents.rows};
  if (row.per_block) {
    result.insert(result.begin(), extents.blocks);
  }
  if (row.columns != ParameterAxis::none) {
    result.push_back(extents.columns);
  }
  return result;
}

std::string path_of(const ParameterRow& row) { return "parameters/" + std::string(row.name); }

void write_parameters(WriteFile& file, const ModelShape& shape, const Parameters& parameters) {
  for (const ParameterRow& row : parameter_table(shape)) {
    file.write(path_of(row), parameters[row.id].values(), file_extents(row, shape));
  }
}

/// read(row) for `rows`, side by side, the longest first.
template <class Read>
void read_rows(std::vector<ParameterRow> rows, const ModelShape& shape, const Read& read) {
  std::ranges::stable_sort(rows, std::greater{}, [&](const ParameterRow& row) { return row.extents(shape).count(); });
  run_side_by_side(rows.size(), [&](std::size_t i) { read(rows[i]); });
}

Parameters read_parameters(const ReadFile& file, const ModelShape& shape) {
  constexpr std::size_t large = std::size_t{1} << 23;  // all threads read one together
  Parameters parameters(shape);
  const auto read = [&](const ParameterRow& row) {
    file.read_into<std::int16_t>(path_of(row), file_extents(row, shape), parameters[row.id].values());
  };
  std::vector<ParameterRow> small;
  for (const ParameterRow& row : parameter_table(shape)) {
    if (row.extents(shape).count() < large) {
      small.push_back(row);
    } else {
      read(row);
    }
  }
  read_rows(std::move(small), shape, read);
  return parameters;
}

/// The rows of this rank. The ranks share the work of checking the digests: each reads some tensors whole, in pieces.
Parameters read_own_parameters(const ReadFile& file, const ModelShape& shape, int rank, const Division& division) {
  Parameters parameters(shape, rank, division);
  std::vector<ParameterRow> checked;
  for (const ParameterRow& row : parameter_table(shape)) {
    if (static_cast<int>(row.id) % division.ranks == rank) {
      checked.push_back(row);
    }
  }
  read_rows(std::move(checked), shape, [&](const ParameterRow& row) { file.check(path_of(row)); });
  for (const ParameterRow& row : parameter_table(shape)) {
    const std::string path = path_of(row);
    const ParameterExtents extents = row.extents(shape);
    const Range held = parameters[row.id].held();
    for (std::size_t block = 0; block < extents.blocks; ++block) {
      file.read_part<std::int16_t>(path, file_extents(row, shape),
                                   (block * extents.rows + held.first) * extents.columns,
                                   parameters[row.id].block(block).rows(held));
    }
  }
  return parameters;
}

std::vector<Merge> read_merges(const ReadFile& file) {
  const Extents extents = file.extents<std::uint32_t>("tokenizer/merges");
  if (extents.size() != 2 || extents[0] > max_merges || extents[1] != 2) {
    file.fail("tokenizer/merges", "at most " + std::to_string(max_merges) + " pairs", to_string(extents));
  }
  const std::vector<std::uint32_t> ids = file.read<std::uint32_t>("tokenizer/merges", extents);
  std::vector<Merge> merges;
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    merges.push_back({ids[i], ids[i + 1]});
  }
  return merges;
}

/// One of several names.
template <class Enum>
Enum read_choice(const ReadFile& file, const std::string& path, std::span<const std::string_view> names) {
  const std::string found = file.read_text(path, 32);
  const auto place = std::ranges::find(names, found);
  if (place == names.end()) {
    std::string expected;
    for (const std::string_view name : names) {
      expected += (expected.empty() ? "" : " or ") + std::string(name);
    }
    file.fail(path, expected, quoted_name(found));
  }
  return static_cast<Enum>(place - names.begin());
}

/// A list of numbers by block; none if there is no such dataset.
std::vector<std::uint32_t> read_by_block(const ReadFile& file, const std::string& path, std::size_t blocks) {
  return file.contains(path) ? file.read<std::uint32_t>(path, {blocks}) : std::vector<std::uint32_t>();
}

/// The c of a soft cap; 0 if there is no such dataset.
double read_cap(const ReadFile& file, const std::string& path) {
  const double cap = file.contains(path) ? file.read_scalar<double>(path) : 0;
  if (!(cap >= 0 && cap < most_cap)) {
    file.fail(path, "0 to " + std::to_string(most_cap), std::to_string(cap));
  }
  return cap;
}

/// Layers, shape and epsilon, in the supported ranges.
Model read_head(const ReadFile& file) {
  Model model;
  for_each_choice(model.shape, [&](std::string_view name, auto& value, auto names) {
    value = read_choice<std::remove_reference_t<decltype(value)>>(file, "layers/" + std::string(name), names);
  });
  for_each_flag(model.shape, [&](std::string_view name, bool& flag) {
    flag = file.read_scalar<std::uint8_t>("shape/" + std::string(name)) != 0;
  });
  for_each_size(model.shape, [&](std::string_view name, std::size_t& size) {
    size = file.read_scalar<std::uint64_t>("shape/" + std::string(name));
  });
  if (model.shape.rotary()) {
    check_limit("n_layer", model.shape.n_layer);
    model.shape.rotations = file.read_scalar<std::uint32_t>("shape/rotations");
    model.shape.rotation_of_block = read_by_block(file, "shape/rotation_of_block", model.shape.n_layer);
    model.shape.window_of_block = read_by_block(file, "shape/window_of_block", model.shape.n_layer);
    model.caps = {read_cap(file, "score_cap"), read_cap(file, "logit_cap")};
    model.shape.score_cap = model.caps.scores > 0;
    model.shape.logit_cap = model.caps.logits > 0;
  }
  model.layer_norm_epsilon = file.read_scalar<double>("layer_norm_epsilon");
  check_shape(model.shape);
  if (!(model.layer_norm_epsilon >= 0 && model.layer_norm_epsilon <= 1)) {
    file.fail("layer_norm_epsilon", "0 to 1", std::to_string(model.layer_norm_epsilon));
  }
  return model;
}

double read_positive(const ReadFile& file, const std::string& name) {
  const auto value = file.read_scalar<double>(name);
  if (!std::isfinite(value) || value < 0) {
    file.fail(name, "a finite number that is not negative", std::to_string(value));
  }
  return value;
}

/// What only models with rotary positions have.
void read_rotary(const ReadFile& file, Model& model) {
  for_each_width(model.shape, model.widths, [&](std::string_view name, std::uint32_t& width) {
    width = file.read_scalar<std::uint32_t>(std::string(name));
  });
  model.rotary_table = file.read<std::int16_t>(
      "rotary", {model.shape.rotations, 2, model.shape.n_positions, model.shape.head_size() / 2});
  for (const EqualisedPlace& place : equalised_places(model.shape)) {
    model.equalisation[std::string(place.name)] =
        file.read<std::int16_t>("equalisation/" + std::string(place.name), {place.count});
  }
}

void write_rotary(WriteFile& file, const Model& model) {
  for_each_width(model.shape, model.widths,
                 [&](std::string_view name, std::uint32_t width) { file.write_scalar(std::string(name), width); });
  file.write("rotary", std::span<const std::int16_t>(model.rotary_table),
             {model.shape.rotations, 2, model.shape.n_positions, model.shape.head_size() / 2});
  for (const EqualisedPlace& place : equalised_places(model.shape)) {
    file.write("equalisation/" + std::string(place.name), model.equalisation.find(place.name)->second);
  }
}

}  // namespace

ModelWriter::ModelWriter(const std::filesystem::path& path) : file_(path, model_format) {}

Digest ModelWriter::commit(const Model& model) {
  WriteFile& file = file_;
  for_each_choice(model.shape, [&](std::string_view name, auto value, auto names) {
    file.write_text("layers/" + std::string(name), std::string(names[static_cast<std::size_t>(value)]));
  });
  for_each_flag(model.shape, [&](std::string_view name, bool flag) {
    file.write_scalar("shape/" + std::string(name), static_cast<std::uint8_t>(flag));
  });
  file.write_text("activation", std::string(activation_names[static_cast<std::size_t>(model.activation)]));
  if (model.shape.rotary()) {
    file.write_scalar("shape/rotations", model.shape.rotations);
    for (const auto& [name, list] : {std::pair{"shape/rotation_of_block", &model.shape.rotation_of_block},
                                     {"shape/window_of_block", &model.shape.window_of_block}}) {
      if (!list->empty()) {
        file.write(name, std::span<const std::uint32_t>(*list), {list->size()});
      }
    }
    for (const auto& [name, cap] : {std::pair{"score_cap", model.caps.scores}, {"logit_cap", model.caps.logits}}) {
      if (cap > 0) {
        file.write_scalar(name, cap);
      }
    }
    write_rotary(file, model);
  }
  for_each_size(model.shape, [&](std::string_view name, std::size_t size) {
    file.write_scalar<std::uint64_t>("shape/" + std::string(name), size);
  });
  file.write_scalar("layer_norm_epsilon", model.layer_norm_epsilon);
  for_each_exponent(model.shape, model.exponents, [&](std::string_view name, std::int32_t value) {
    file.write_scalar("exponents/" + std::string(name), value);
  });
  file.write_scalar("calibration/margin", model.calibration.margin);
  for (const auto& [name, value] : model.calibration.maxima) {
    file.write_scalar("calibration/maxima/" + name, value);
  }
  write_parameters(file, model.shape, model.parameters);
  file.write_strings("tokenizer/vocabulary", model.tokenizer.vocabulary);
  write_merges(file, "tokenizer/merges", model.tokenizer.merges);
  file.write_scalar("tokenizer/end_of_text", model.tokenizer.end_of_text);
  write_tokenizer_fields(file, "tokenizer/", model.tokenizer);
  write_origin(file, model.origin);
  return file.commit();
}

Digest save_model(const std::filesystem::path& path, const Model& model) { return ModelWriter(path).commit(model); }

Model load_model(const std::filesystem::path& path, int rank, const Division& division) {
  return naming(path, [&] {
    const ReadFile file(path, model_format);
    Model model = read_head(file);
    for_each_exponent(model.shape, model.exponents, [&](std::string_view name, std::int32_t& value) {
      value = file.read_scalar<std::int32_t>("exponents/" + std::string(name));
    });
    complete(model.shape, model.exponents);
    model.activation = read_choice<ActivationKind>(file, "activation", activation_names);
    if (model.shape.rotary()) {
      read_rotary(file, model);
    }
    check_widths(model.shape, model.widths);
    check_exponents(model.shape, model.exponents, model.widths);
    const IntegerConstants constants =
        IntegerConstants::of(model.shape, model.layer_norm_epsilon, model.exponents, model.widths);
    check_epsilon(model.shape, constants.epsilon, model.widths);
    model.calibration.margin = read_positive(file, "calibration/margin");
    const std::vector<std::string> kinds = file.names_in("calibration/maxima");
    if (kinds.size() > max_maxima) {
      file.fail("calibration/maxima", "at most " + std::to_string(max_maxima), std::to_string(kinds.size()));
    }
    for (const std::string& kind : kinds) {
      model.calibration.maxima[kind] = read_positive(file, "calibration/maxima/" + kind);
    }
    model.parameters = division.ranks == 1 ? read_parameters(file, model.shape)
                                           : read_own_parameters(file, model.shape, rank, division);
    model.tokenizer.vocabulary = file.read_strings("tokenizer/vocabulary", model.shape.n_vocab, max_vocabulary_bytes);
    if (model.tokenizer.vocabulary.size() != model.shape.n_vocab) {
      file.fail("tokenizer/vocabulary", std::to_string(model.shape.n_vocab) + " entries",
                std::to_string(model.tokenizer.vocabulary.size()));
    }
    model.tokenizer.merges = read_merges(file);
    model.tokenizer.end_of_text = file.read_scalar<std::uint32_t>("tokenizer/end_of_text");
    if (model.tokenizer.end_of_text >= model.shape.n_vocab) {
      file.fail("tokenizer/end_of_text", "below " + std::to_string(model.shape.n_vocab),
                std::to_string(model.tokenizer.end_of_text));
    }
    read_tokenizer_fields(file, "tokenizer/", model.tokenizer);
    model.origin = read_origin(file);
    return model;
  });
}

Digest parameters_digest(const std::filesystem::path& path) {
  const ReadFile file(path, model_format);
  std::map<std::string, DatasetInfo> parameters;
  for (const std::string& name : file.names_in("parameters")) {
    parameters.emplace(name, file.datasets().at("parameters/" + name));
  }
  return file_digest("tessera parameters", format_version, parameters);
}

}  // namespace tessera
