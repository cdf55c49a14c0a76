#include "checkpoints/checkpoint_tensors.hpp"

#include <cassert>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/json_file.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t index_limit = 64U << 20U;
constexpr std::size_t shard_limit = 1000;  // files that stay open

/// What the index says of tensors and files.
nlohmann::json read_weight_map(const fs::path& index) {
  const nlohmann::json root = parse_json_object(read_file(index, index_limit), index.string());
  for (const auto& [field, value] : root.items()) {
    if (field != "metadata" && field != "weight_map") {
      throw InputError(index.string() + ": field " + quoted_name(field) + " is not supported");
    }
  }
  if (!root.contains("weight_map") || !root["weight_map"].is_object() || root["weight_map"].empty()) {
    throw InputError(index.string() + ": weight_map: expected an object of tensors and files");
  }
  return root["weight_map"];
}

/// The file beside the index that is said to have a tensor.
fs::path shard_of(const fs::path& index, const std::string& tensor, const nlohmann::json& value) {
  const std::string what = index.string() + ": tensor " + quoted_name(tensor);
  const std::string name = value.is_string() ? value.get<std::string>() : std::string();
  const fs::path file(name);
  if (file.filename() != file || file.extension() != ".safetensors" || name.find('\0') != std::string::npos) {
    throw InputError(what + ": expected the name of a *.safetensors file beside the index, found " +
                     quoted_name(value.is_string() ? name : value.dump()));
  }
  if (!fs::exists(index.parent_path() / file)) {
    throw InputError(what + ": its file " + quoted_name(name) + " is missing");
  }
  return index.parent_path() / file;
}

}  // namespace

fs::path first_shard(const fs::path& index) {
  const nlohmann::json map = read_weight_map(index);
  return shard_of(index, map.begin().key(), map.begin().value());
}

CheckpointTensors::CheckpointTensors(const fs::path& weights) {
  if (weights.extension() == ".json") {
    read_index(weights);
    return;
  }
  files_.emplace_back(weights);
  source_ = files_.front().name();
  for (const auto& [name, entry] : files_.front().tensors()) {
    file_of_.emplace(name, 0);
  }
}

void CheckpointTensors::read_index(const fs::path& index) {
  source_ = index.string();
  std::map<std::string, std::size_t> shards;
  const nlohmann::json map = read_weight_map(index);
  for (const auto& [tensor, value] : map.items()) {
    const std::string what = source_ + ": tensor " + quoted_name(tensor);
    const fs::path file = shard_of(index, tensor, value);
    const auto [shard, fresh] = shards.emplace(file.filename().string(), files_.size());
    if (fresh) {
      if (shards.size() > shard_limit) {
        throw InputError(source_ + ": expected at most " + std::to_string(shard_limit) + " files, found more");
      }
      files_.emplace_back(file);
    }
    if (!files_[shard->second].tensors().contains(tensor)) {
      throw InputError(what + " is not in the file that is said to have it, " + files_[shard->second].name());
    }
    file_of_.emplace(tensor, shard->second);
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    for (const auto& [tensor, entry] : files_[i].tensors()) {
      const auto found = file_of_.find(tensor);
      if (found == file_of_.end() || found->second != i) {
        throw InputError(files_[i].name() + ": tensor " + quoted_name(tensor) + " is not said to be in this file by " +
                         source_);
      }
    }
  }
}

std::vector<std::string> CheckpointTensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : file_of_) {
    names.push_back(name);
  }
  return names;
}

const TensorEntry& CheckpointTensors::entry(const std::string& tensor) const {
  return files_[file_of_.at(tensor)].tensors().at(tensor);
}

std::string CheckpointTensors::place_of(const std::string& tensor) const {
  const auto found = file_of_.find(tensor);
  return found == file_of_.end() ? source_ : files_[found->second].name();
}

void CheckpointTensors::read_rows(const std::string& tensor, Range rows, std::span<float> values) const {
  const TensorEntry& found = entry(tensor);
  const std::size_t row = found.extents.empty() ? 1 : found.count / found.extents.front();
  assert(values.size() == rows.size() * row);
  files_[file_of_.at(tensor)].read(tensor, rows.first * row, values);
}

std::vector<std::string> CheckpointTensors::files() const {
  std::vector<std::string> names;
  for (const SafetensorsFile& file : files_) {
    names.push_back(file.name());
  }
  return names;
}

}  // namespace tessera
