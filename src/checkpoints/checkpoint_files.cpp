#include "checkpoints/checkpoint_files.hpp"

#include <algorithm>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/checkpoint_tensors.hpp"
#include "checkpoints/foreign_files.hpp"
#include "checkpoints/gguf/parts.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

/// Names of the files of a folder with this ending, in alphabetical order.
std::vector<std::string> names_with(const fs::path& folder, const std::string& extension) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

/// Takes digits off the end; false if there are none.
bool drop_digits(std::string_view& text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::size_t kept = last == std::string_view::npos ? 0 : last + 1;
  const bool some = kept < text.size();
  text = text.substr(0, kept);
  return some;
}

/// <anything>-<number>-of-<number>, without extension.
bool is_shard(std::string_view stem) {
  constexpr std::string_view of = "-of-";
  if (!drop_digits(stem) || !stem.ends_with(of)) {
    return false;
  }
  stem.remove_suffix(of.size());
  return drop_digits(stem) && stem.ends_with('-');
}

/// model.<anything>, or with - or _.
bool is_variant(std::string_view name) {
  constexpr std::string_view model = "model";
  return name.starts_with(model) && std::string_view("._-").find(name[model.size()]) != std::string_view::npos;
}

/// The sets of weights by preference.
std::vector<std::string> sets_of_weights(const fs::path& folder) {
  std::vector<std::string> sets;
  for (const char* name : {single_name, index_name}) {
    if (fs::exists(folder / name)) {
      sets.emplace_back(name);
    }
  }
  for (const std::string& name : names_with(folder, ".safetensors")) {
    if (name != single_name && is_variant(name) && !is_shard(fs::path(name).stem().string())) {
      sets.push_back(name);
    }
  }
  return sets;
}

struct SetType {
  std::string name;       // of the type that most values have
  std::size_t width = 0;  // its bytes
};

/// The type that most values have, in a file of weights or in the first file that an index names.
SetType type_of_set(const fs::path& weights) {
  const SafetensorsFile file(weights.extension() == ".json" ? first_shard(weights) : weights);
  std::map<std::string, std::size_t> counts;
  SetType type;
  for (const auto& [tensor, entry] : file.tensors()) {
    std::size_t& count = counts[entry.dtype];
    count += entry.count;
    if (count >= counts[type.name]) {
      type = {entry.dtype, entry.length / entry.count};
    }
  }
  return type;
}

/// The set to take; `notes` says why if there is a choice.
std::string choose(const fs::path& folder, const std::vector<std::string>& sets, std::vector<std::string>& notes) {
  if (sets.size() == 1) {
    return sets.front();
  }
  std::vector<SetType> types;
  std::ranges::transform(sets, std::back_inserter(types),
                         [&](const std::string& name) { return type_of_set(folder / name); });
  const auto widest = static_cast<std::size_t>(std::ranges::max_element(types, {}, &SetType::width) - types.begin());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i != widest) {
      const bool narrower = types[i].width < types[widest].width;
      notes.push_back(
          sets[widest] + " (" + types[widest].name + ") is taken, " + quoted_name(sets[i]) + " (" + types[i].name +
          ") is not: " +
          (narrower ? "its values have fewer bits" : "its values are no wider, and it comes later in order"));
    }
  }
  return sets[widest];
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? " (" : ", ") + quoted_name(name);
  }
  return names.empty() ? text : text + ")";
}

CheckpointFiles find_in_folder(const fs::path& folder) {
  CheckpointFiles files;
  files.folder = folder;
  refuse_other_layouts(folder);
  std::vector<std::string> sets = sets_of_weights(folder);
  if (sets.empty()) {
    sets = names_with(folder, ".safetensors");
    if (sets.size() > 1) {
      throw InputError(folder.string() + ": expected model.safetensors, its index or one *.safetensors file, found " +
                       std::to_string(sets.size()) + joined(sets));
    }
  }
  const std::vector<std::string> others = names_with(folder, ".gguf");
  if (!sets.empty()) {
    files.weights = folder / choose(folder, sets, files.notes);
    for (const std::string& name : others) {
      files.notes.push_back(files.weights.filename().string() + " is taken, " + quoted_name(name) +
                            " is not: safetensors are what others are made from");
    }
  } else if (others.size() == 1 || are_parts(others)) {
    files.format = CheckpointFormat::gguf;
    files.weights = folder / others.front();
  } else {
    const std::string foreign = foreign_weights(folder);
    throw InputError(folder.string() + ": expected *.safetensors or one *.gguf file, found " +
                     std::to_string(others.size()) + joined(others) +
                     (!others.empty()    ? "; --checkpoint takes a *.gguf file as well"
                      : !foreign.empty() ? "; " + foreign
                                         : ""));
  }
  if (fs::exists(folder / "generation_config.json")) {
    const bool own = files.format == CheckpointFormat::gguf && !fs::exists(folder / "tokenizer.json");
    files.notes.emplace_back(
        own ? "generation_config.json is ignored: the GGUF file says what ends a text, and generation is greedy"
            : "of generation_config.json eos_token_id alone is taken: generation is greedy");
  }
  return files;
}

}  // namespace

CheckpointFiles find_checkpoint(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return find_in_folder(path);
  }
  if (!fs::exists(path, error) || path.extension() == ".safetensors") {
    throw InputError(path.string() + ": expected a folder with config.json and *.safetensors, or a GGUF file, found " +
                     (error || !fs::exists(path, error) ? "none" : "a single *.safetensors file"));
  }
  if (const std::string foreign = foreign_weights(path); !foreign.empty()) {
    throw InputError(path.string() +
                     ": expected a folder with config.json and *.safetensors, or a GGUF file: " + foreign);
  }
  return {CheckpointFormat::gguf, path, path.has_parent_path() ? path.parent_path() : fs::path("."), {}};
}

}  // namespace tessera
