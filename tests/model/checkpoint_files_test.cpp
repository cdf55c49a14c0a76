#include "checkpoints/checkpoint_files.hpp"
#include "integer_model/import.hpp"

#include "checkpoint_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using Notes = std::vector<std::string>;

/// odd-40k with weights under several names.
class CheckpointFilesTest : public CheckpointFixture {
 protected:
  CheckpointFilesTest() {
    write_file(folder_.path() / "config.json", config_.dump());
    for (const char* name : {"vocab.json", "merges.txt"}) {
      std::filesystem::copy(model_folder("odd-40k") / name, folder_.path() / name);
    }
    half_ = file_of(header_.dump(), data_);
    convert_all("F32", 4, [](float value) { return value; });
    single_ = file_of(header_.dump(), data_);
  }
  void put(const std::string& name, const std::string& bytes) const { write_file(folder_.path() / name, bytes); }
  /// An index of one shard.
  void put_index(const std::string& bytes) const {
    put("model-00001-of-00001.safetensors", bytes);
    json map = json::object();
    for (const auto& [name, entry] : header_.items()) {
      map[name] = "model-00001-of-00001.safetensors";
    }
    put("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  }
  void put_gguf(const std::string& name) const {
    std::filesystem::copy(std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/gguf/odd-40k.gguf", folder_.path() / name);
  }
  void expect(const std::string& weights, const Notes& notes) const {
    const CheckpointFiles files = find_checkpoint(folder_.path());
    EXPECT_EQ(files.weights.filename(), weights);
    EXPECT_EQ(files.folder, folder_.path());
    EXPECT_EQ(files.format, weights.ends_with("gguf") ? CheckpointFormat::gguf : CheckpointFormat::safetensors);
    EXPECT_EQ(files.notes, notes);
    EXPECT_NO_THROW((void)load_checkpoint(files));
  }

  std::string half_, single_;
};

TEST_F(CheckpointFilesTest, the_widest_type_is_taken) {
  put("model.safetensors", half_);
  expect("model.safetensors", {});
  put("model.fp32.safetensors", single_);
  expect("model.fp32.safetensors",
         {"model.fp32.safetensors (F32) is taken, \"model.safetensors\" (F16) is not: its values have fewer bits"});
  std::filesystem::remove(folder_.path() / "model.fp32.safetensors");
  put("model.safetensors", single_);
  put("model.fp16.safetensors", half_);
  expect("model.safetensors",
         {"model.safetensors (F32) is taken, \"model.fp16.safetensors\" (F16) is not: its values have fewer bits"});
}

TEST_F(CheckpointFilesTest, of_equal_types_the_first_is_taken) {
  put("model.safetensors", half_);
  put("model_f16.safetensors", half_);
  expect("model.safetensors",
         {"model.safetensors (F16) is taken, \"model_f16.safetensors\" (F16) is not: its values are "
          "no wider, and it comes later in order"});
}

TEST_F(CheckpointFilesTest, an_index_and_a_single_file) {
  put("model.safetensors", half_);
  put_index(single_);
  expect("model.safetensors.index.json", {"model.safetensors.index.json (F32) is taken, \"model.safetensors\" (F16) is "
                                          "not: its values have fewer bits"});
  std::filesystem::remove(folder_.path() / "model.safetensors");
  expect("model.safetensors.index.json", {});
  put("consolidated.safetensors", half_);  // other names of tensors
  expect("model.safetensors.index.json", {});
}

TEST_F(CheckpointFilesTest, gguf_is_taken_where_there_are_no_safetensors) {
  put_gguf("a.gguf");
  put("generation_config.json", "{}");
  expect("a.gguf",
         {"generation_config.json is ignored: the GGUF file says what ends a text, and generation is greedy"});
  put("weights.safetensors", half_);
  expect("weights.safetensors",
         {"weights.safetensors is taken, \"a.gguf\" is not: safetensors are what others are made "
          "from",
          "of generation_config.json eos_token_id alone is taken: generation is greedy"});
  const CheckpointFiles files = find_checkpoint(folder_.path() / "a.gguf");
  EXPECT_EQ(files.weights, folder_.path() / "a.gguf");
  EXPECT_EQ(files.format, CheckpointFormat::gguf);
}

TEST_F(CheckpointFilesTest, no_single_choice) {
  expect_input_error([&] { find_checkpoint(folder_.path()); }, "expected *.safetensors or one *.gguf file, found 0");
  put_gguf("a.gguf");
  put_gguf("b.gguf");
  expect_input_error([&] { find_checkpoint(folder_.path()); },
                     "expected *.safetensors or one *.gguf file, found 2 (\"a.gguf\", \"b.gguf\"); --checkpoint takes");
  put("x.safetensors", half_);
  put("y.safetensors", half_);
  expect_input_error([&] { find_checkpoint(folder_.path()); }, "found 2 (\"x.safetensors\", \"y.safetensors\")");
  expect_input_error([&] { find_checkpoint(folder_.path() / "x.safetensors"); }, "found a single *.safetensors file");
  expect_input_error([&] { find_checkpoint(folder_.path() / "z.gguf"); }, "found none");
}

TEST_F(CheckpointFilesTest, a_file_that_is_no_gguf) {
  expect_input_error([&] { load_checkpoint(folder_.path() / "config.json"); },
                     "config.json: magic number: expected \"GGUF\", found \"{\\\"");
}

TEST_F(CheckpointFilesTest, weights_of_other_formats_are_named) {
  const auto refused = [&](const std::string& part) {
    expect_input_error([&] { find_checkpoint(folder_.path()); }, part);
  };
  for (const char* const left_behind : {"training_args.bin", "optimizer.pt", "scheduler.pt"}) {
    put(left_behind, "");
  }
  refused("expected *.safetensors or one *.gguf file, found 0");
  put("pytorch_model.bin", "");
  refused("\"pytorch_model.bin\" is PyTorch's pickle");
  expect_input_error([&] { find_checkpoint(folder_.path() / "pytorch_model.bin"); }, "is PyTorch's pickle");
  std::filesystem::remove(folder_.path() / "pytorch_model.bin");
  put("tf_model.h5", "");
  refused("\"tf_model.h5\" is of another format");
  put("model.safetensors", half_);
  expect("model.safetensors", {});  // whatever lies beside it
}

TEST_F(CheckpointFilesTest, adapters_and_metas_layout_are_named) {
  put("adapter_model.safetensors", half_);
  put("adapter_config.json", "{}");
  expect_input_error([&] { find_checkpoint(folder_.path()); }, "found adapter_config.json: an adapter (PEFT)");
  put("model.safetensors", half_);
  expect_input_error([&] { find_checkpoint(folder_.path()); }, "found adapter_config.json: an adapter (PEFT)");
  std::filesystem::remove(folder_.path() / "adapter_config.json");
  put("params.json", "{}");  // beside a configuration it says nothing
  expect("model.safetensors", {});
  std::filesystem::remove(folder_.path() / "config.json");
  expect_input_error([&] { find_checkpoint(folder_.path()); }, "found params.json: Meta's own layout");
}

TEST_F(CheckpointFilesTest, pointers_of_git_lfs_are_named) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid "
      "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 91536\n";
  put("model.safetensors", pointer);
  expect_input_error([&] { load_checkpoint(folder_.path()); },
                     "model.safetensors: expected the file itself, found a "
                     "pointer of git-lfs");
  put("a.gguf", pointer);
  expect_input_error([&] { load_checkpoint(folder_.path() / "a.gguf"); }, "a.gguf: expected the file itself");
  put("model.safetensors", half_);
  put("config.json", pointer);
  expect_input_error([&] { load_checkpoint(folder_.path()); }, "config.json: expected the file itself");
}

TEST_F(CheckpointFilesTest, the_origin_of_shards) {
  put_index(half_);
  const Origin origin = import_model(folder_.path()).model.origin;
  EXPECT_EQ(origin.format, "safetensors");
  ASSERT_EQ(origin.files.size(), 1U);
  EXPECT_EQ(origin.files[0].name, "model-00001-of-00001.safetensors");
  EXPECT_EQ(origin.files[0].bytes, half_.size());
  EXPECT_EQ(origin.tensor_types, (std::map<std::string, std::uint64_t>{{"F16", header_.size()}}));
}

}  // namespace
}  // namespace tessera::test
