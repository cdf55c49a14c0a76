#include "checkpoints/foreign_files.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

struct ForeignFormat {
  std::string_view ending, what;
};
constexpr std::string_view pickle =
    "PyTorch's pickle, which may run any code when it is read: save the model again as safetensors "
    "(save_pretrained with safe_serialization=True)";
constexpr std::string_view converted = "save the model again as safetensors with transformers";
constexpr ForeignFormat formats[] = {{".bin", pickle},        {".bin.index.json", pickle}, {".pth", pickle},
                                     {".pt", pickle},         {".ckpt", pickle},           {".h5", converted},
                                     {".msgpack", converted}, {".onnx", converted},        {".npz", converted}};

/// Files in alphabetical order.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

void refuse_other_layouts(const fs::path& folder) {
  if (fs::exists(folder / "adapter_config.json")) {
    throw InputError(folder.string() +
                     ": expected a whole model, found adapter_config.json: an adapter (PEFT) changes the weights of "
                     "another model; merge them (merge_and_unload) and import the folder that saves");
  }
  if (fs::exists(folder / "params.json") && !fs::exists(folder / "config.json")) {
    throw InputError(folder.string() +
                     ": expected config.json and *.safetensors, found params.json: Meta's own layout (params.json, "
                     "consolidated.*); take the model's files for transformers, or convert them "
                     "(convert_llama_weights_to_hf.py)");
  }
}

std::string foreign_weights(const fs::path& path) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  const std::vector<std::string> names = folder ? names_in(path) : std::vector<std::string>{path.filename().string()};
  for (const ForeignFormat& format : formats) {
    const auto found = std::ranges::find_if(names, [&](const std::string& name) {
      // what a training leaves behind has some of these endings as well
      return name.ends_with(format.ending) && name != "training_args.bin" && !name.starts_with("optimizer.") &&
             !name.starts_with("scheduler.");
    });
    if (found != names.end()) {
      return quoted_name(*found) + " is " + std::string(format.what == pickle ? "" : "of another format: ") +
             std::string(format.what);
    }
  }
  return {};
}

}  // namespace tessera
