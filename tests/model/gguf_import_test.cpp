#include <gtest/gtest.h>

#include <functional>

#include "checkpoints/checkpoint.hpp"
#include "checkpoints/gguf/blocks.hpp"
#include "checkpoints/gguf/config.hpp"
#include "checkpoints/gguf/splits.hpp"
#include "checkpoints/gguf/tokenizer.hpp"
#include "integer_model/import.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "gguf_builder.hpp"
#include "model_files.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

std::filesystem::path gguf_folder() { return std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/gguf"; }

/// The folder that tests/gguf/<name>.gguf was made from.
std::filesystem::path source_of(const std::string& name) {
  return name == "llama" ? gguf_folder() / name : model_folder(name);
}

class GgufImport : public testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path file_ = gguf_folder() / (GetParam() + ".gguf");
};

TEST_P(GgufImport, gives_the_same_model_as_the_folder) {
  const ImportedModel expected = import_model(source_of(GetParam()));
  const ImportedModel found = import_model(file_);
  EXPECT_EQ(found.float_model.parameters, expected.float_model.parameters);
  EXPECT_EQ(found.float_model.layer_norm_epsilon, expected.float_model.layer_norm_epsilon);
  EXPECT_EQ(found.float_model.activation, expected.float_model.activation);
  EXPECT_EQ(found.model.shape, expected.model.shape);
  EXPECT_EQ(found.model.rotary_table, expected.model.rotary_table);
  EXPECT_EQ(found.model.exponents, expected.model.exponents);
  EXPECT_EQ(found.model.equalisation, expected.model.equalisation);
  EXPECT_EQ(found.model.parameters, expected.model.parameters);
  EXPECT_EQ(found.model.tokenizer, expected.model.tokenizer);
}

TEST_P(GgufImport, says_what_the_parameters_came_from) {
  const Origin origin = import_model(file_).model.origin;
  EXPECT_EQ(origin.format, "GGUF");
  ASSERT_EQ(origin.files.size(), 1U);
  const std::string bytes = file_bytes(file_);
  EXPECT_EQ(origin.files[0].name, GetParam() + ".gguf");
  EXPECT_EQ(origin.files[0].bytes, bytes.size());
  std::string digest;
  for (const std::uint8_t byte : origin.files[0].sha256) {
    digest += "0123456789abcdef"[byte >> 4U];
    digest += "0123456789abcdef"[byte & 15U];
  }
  EXPECT_EQ(digest, sha256_hex(bytes));
  const GgufFile file(file_);
  std::uint64_t count = 0;
  for (const auto& [type, number] : origin.tensor_types) {
    EXPECT_TRUE(type == "F16" || type == "F32") << type;
    count += number;
  }
  EXPECT_EQ(count, file.names().size());
  EXPECT_EQ(import_model(source_of(GetParam())).model.origin.format, "safetensors");
}

INSTANTIATE_TEST_SUITE_P(Files, GgufImport, testing::Values("odd-40k", "odd-qwen-60k", "odd-qwen2-50k", "llama"),
                         model_test_name);

/// A file whose header is changed by replacing texts of equal length.
class GgufChanged : public testing::Test {
 protected:
  void expect_refused(const std::string& file, const std::string& from, const std::string& to,
                      const std::string& part) {
    std::string bytes = file_bytes(gguf_folder() / (file + ".gguf"));
    const std::size_t place = bytes.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    bytes.replace(place, from.size(), to);
    ASSERT_EQ(bytes.size(), file_bytes(gguf_folder() / (file + ".gguf")).size());
    const std::filesystem::path path = folder_.path() / "x.gguf";
    write_file(path, bytes);
    expect_input_error([&] { import_model(path); }, part);
  }
  /// A key, its type and its value as they are stored.
  template <class T>
  static std::string entry(const std::string& key, std::uint32_t type, T value) {
    return key + GgufBuilder::bytes_of(type) + GgufBuilder::bytes_of(value);
  }
  void expect_number_refused(const std::string& file, const std::string& key, std::uint32_t from, std::uint32_t to,
                             const std::string& part) {
    expect_refused(file, entry(key, 4, from), entry(key, 4, to), part);
  }
  TemporaryFolder folder_;
};

TEST_F(GgufChanged, architecture_and_sizes) {
  expect_refused("llama", "architecture" + GgufBuilder::bytes_of<std::uint32_t>(8) + GgufBuilder::text_of("llama"),
                 "architecture" + GgufBuilder::bytes_of<std::uint32_t>(8) + GgufBuilder::text_of("gamma"),
                 "general.architecture: expected one of [\"gpt2\",\"llama\",\"qwen2\",\"qwen3\",\"smollm3\",");
  expect_number_refused("llama", "llama.block_count", 2, 3, "tensor blk.2.attn_q.weight of shape [32,32] is missing");
  expect_number_refused("llama", "llama.block_count", 2, 1, "tensor \"blk.1.attn_k.weight\" does not belong");
  expect_number_refused("llama", "llama.block_count", 2, 1U << 31U, "llama.block_count: expected ");
  expect_number_refused("llama", "llama.embedding_length", 32, 16, "shape: expected [292,16], found [292,32]");
  expect_number_refused("llama", "llama.vocab_size", 292, 291, "llama.vocab_size: expected one of [292], found 291");
  expect_number_refused("llama", "llama.attention.head_count_kv", 2, 3, "head_count_kv: expected a divisor of");
  expect_number_refused("llama", "llama.attention.key_length", 8, 7,
                        "llama.attention.key_length: expected an even number");
  expect_number_refused("llama", "llama.rope.dimension_count", 8, 10,
                        "llama.rope.dimension_count: expected an even number of a head's 8 places, found 10");
  expect_number_refused("llama", "general.quantization_version", 2, 1,
                        "general.quantization_version: expected one of [2]");
  expect_number_refused("odd-40k", "gpt2.context_length", 48, 47, "position_embd.weight.shape: expected [47,36]");
}

/// Keys and the embedding's place of a file of Gemma 2, of so many blocks, and more keys: numbers as float32.
CheckpointConfig gemma2_config(const std::filesystem::path& path, std::uint32_t blocks,
                               const std::map<std::string, float>& more = {}) {
  GgufBuilder builder;
  builder.add_text("general.architecture", "gemma2");
  for (const auto& [name, value] : std::map<std::string, std::uint32_t>{{"block_count", blocks},
                                                                        {"context_length", 64},
                                                                        {"embedding_length", 24},
                                                                        {"feed_forward_length", 40},
                                                                        {"attention.head_count", 3},
                                                                        {"attention.head_count_kv", 3},
                                                                        {"attention.key_length", 6},
                                                                        {"attention.value_length", 6},
                                                                        {"attention.sliding_window", 16}}) {
    builder.add_number("gemma2." + name, value);
  }
  builder.add_key("gemma2.attention.layer_norm_rms_epsilon", 6, GgufBuilder::bytes_of(1e-6F));
  for (const auto& [name, value] : more) {
    builder.add_key("gemma2." + name, 6, GgufBuilder::bytes_of(value));
  }
  builder.add_tensor({"token_embd.weight", {24, 8}, 0, std::string(24 * 8 * 4, '\0')});
  write_file(path, builder.build());
  return read_gguf_config(GgufFile(path));
}

TEST(GgufGemma2, has_caps_and_windows_in_every_second_block) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.gguf";
  const CheckpointConfig config = gemma2_config(path, 3);
  EXPECT_EQ(config.caps.scores, 50);
  EXPECT_EQ(config.caps.logits, 30);
  EXPECT_TRUE(config.shape.score_cap && config.shape.logit_cap);
  EXPECT_EQ(config.shape.layers.norm_place, NormPlace::around);
  EXPECT_EQ(config.shape.window_of_block, (std::vector<std::uint32_t>{16, 0, 16}));
  EXPECT_EQ(config.factors[wq], 1);
  const CheckpointConfig other =
      gemma2_config(path, 3, {{"attn_logit_softcapping", 20.0F}, {"final_logit_softcapping", 7.0F}});
  EXPECT_EQ(other.caps.scores, 20);
  EXPECT_EQ(other.caps.logits, 7);
  expect_input_error(
      [&] {
        (void)gemma2_config(path, 3, {{"attn_logit_softcapping", -1.0F}});
      },
      "gemma2.attn_logit_softcapping: expected a number between 0 and");
}

/// The one of 27 billion parameters has another factor of scores than its heads' size says.
TEST(GgufGemma2, of_46_blocks_scales_scores_by_its_width) {
  const TemporaryFolder folder;
  const CheckpointConfig config = gemma2_config(folder.path() / "x.gguf", 46);
  EXPECT_DOUBLE_EQ(config.factors[wq], std::sqrt(6.0 / 8.0));  // 24/3 in the place of 6
}

/// llama.gguf with more keys.
class GgufWithKey : public GgufChanged {
 protected:
  [[nodiscard]] std::filesystem::path with_key(const std::string& key, std::uint32_t type, const std::string& value) {
    return with_keys([&](GgufBuilder& builder) { builder.add_key(key, type, value); });
  }
  [[nodiscard]] std::filesystem::path with_keys(const std::function<void(GgufBuilder&)>& add) {
    const std::string bytes = file_bytes(gguf_folder() / "llama.gguf");
    const GgufFile file(gguf_folder() / "llama.gguf");
    GgufBuilder builder;
    constexpr std::size_t keys_begin = 24;  // behind magic number, version and two counts
    std::size_t keys_end = bytes.size();
    for (const std::string& name : file.names()) {
      keys_end = std::min(keys_end, bytes.find(GgufBuilder::text_of(name)));
    }
    builder.add_keys(bytes.substr(keys_begin, keys_end - keys_begin), file.metadata().values.size());
    add(builder);
    for (const std::string& name : file.names()) {
      const TensorEntry& found = file.entry(name);
      builder.add_tensor({name,
                          {found.extents.rbegin(), found.extents.rend()},
                          gguf_type_of(found.dtype).number,
                          bytes.substr(found.offset, found.length)});
    }
    const std::filesystem::path path = folder_.path() / "x.gguf";
    write_file(path, builder.build());
    return path;
  }
  template <class T>
  void expect_accepted(const std::string& key, std::uint32_t type, T value) {
    EXPECT_NO_THROW((void)read_gguf_config(GgufFile(with_key(key, type, GgufBuilder::bytes_of(value))))) << key;
  }
  template <class T>
  void expect_key_refused(const std::string& key, std::uint32_t type, T value) {
    const std::filesystem::path path = with_key(key, type, GgufBuilder::bytes_of(value));
    expect_input_error([&] { (void)read_gguf_config(GgufFile(path)); }, key);
  }
};

TEST_F(GgufWithKey, neutral_values_are_accepted_and_others_are_not) {
  for (const char* key : {"llama.expert_count", "llama.expert_shared_count", "llama.leading_dense_block_count",
                          "llama.pooling_type", "llama.nextn_predict_layers", "llama.attention.shared_kv_layers"}) {
    expect_accepted<std::uint32_t>(key, 4, 0);
    expect_key_refused<std::uint32_t>(key, 4, 1);
  }
  for (const char* key :
       {"llama.attention.clamp_kqv", "llama.attn_logit_softcapping", "llama.final_logit_softcapping"}) {
    expect_accepted(key, 6, 0.0F);
    expect_key_refused(key, 6, 30.0F);
  }
  for (const char* key : {"llama.logit_scale", "llama.residual_scale", "llama.embedding_scale"}) {
    expect_accepted(key, 6, 1.0F);
    expect_accepted(key, 6, 0.0F);
    expect_key_refused(key, 6, 12.0F);
  }
  expect_accepted("llama.attention.scale", 6, 0.35355338F);  // 1 / sqrt(8)
  expect_accepted("llama.attention.scale", 6, 0.0F);
  expect_accepted("llama.attention.scale", 6, 0.0625F);  // which the weights of queries take in
  expect_accepted<std::uint32_t>("llama.attention.sliding_window", 4, 0);
  expect_accepted<std::uint32_t>("llama.attention.sliding_window", 4, 4096);
  expect_accepted<std::uint32_t>("llama.attention.sliding_window", 4, 8);
  expect_accepted<std::uint8_t>("llama.use_parallel_residual", 7, 0);
  expect_key_refused<std::uint8_t>("llama.use_parallel_residual", 7, 1);
}

/// By a list, by a number, or all.
TEST_F(GgufWithKey, windows_are_those_of_the_pattern) {
  using Windows = std::vector<std::uint32_t>;
  const std::string name = "llama.attention.sliding_window";
  const auto windows = [&](const std::function<void(GgufBuilder&)>& pattern) {
    const auto path = with_keys([&](GgufBuilder& builder) {
      builder.add_number(name, 8);
      pattern(builder);
    });
    return read_gguf_config(GgufFile(path)).shape.window_of_block;
  };
  const auto list = [&](const std::string& values) {
    return [&name, values](GgufBuilder& builder) {
      builder.add_key(
          name + "_pattern", 9,
          GgufBuilder::bytes_of<std::uint32_t>(7) + GgufBuilder::bytes_of<std::uint64_t>(values.size()) + values);
    };
  };
  const auto every = [&](std::uint32_t n) {
    return [&name, n](GgufBuilder& builder) { builder.add_number(name + "_pattern", n); };
  };
  EXPECT_EQ(windows([](GgufBuilder&) {}), (Windows{8, 8}));
  EXPECT_EQ(windows(list({0, 1})), (Windows{0, 8}));
  EXPECT_EQ(windows(list({1, 0})), (Windows{8, 0}));
  EXPECT_EQ(windows(every(2)), (Windows{8, 0}));
  EXPECT_EQ(windows(every(1)), Windows{});
  const std::string expected = name + "_pattern: expected true or false for each of 2 blocks";
  expect_input_error([&] { (void)windows(list({1})); }, expected);
  expect_input_error([&] { (void)windows(list({1, 0, 1})); }, expected);
}

TEST_F(GgufWithKey, ends_are_eos_and_eot) {
  const TokenizerData plain = read_gguf_tokenizer(GgufFile(gguf_folder() / "llama.gguf"));
  EXPECT_TRUE(plain.ends.empty());
  const auto with_turn = [&](std::uint32_t id) {
    return read_gguf_tokenizer(
        GgufFile(with_key("tokenizer.ggml.eot_token_id", 4, GgufBuilder::bytes_of<std::uint32_t>(id))));
  };
  const TokenizerData found = with_turn(plain.end_of_text + 3);
  EXPECT_EQ(found.ends, (std::vector<std::uint32_t>{plain.end_of_text, plain.end_of_text + 3}));
  EXPECT_EQ(found.end_of_text, plain.end_of_text);
  EXPECT_TRUE(with_turn(plain.end_of_text).ends.empty());
  expect_input_error([&] { (void)with_turn(292); }, "tokenizer.ggml.eot_token_id: expected an id below 292, found 292");
}

TEST_F(GgufChanged, keys_that_are_not_known) {
  expect_refused("llama", "llama.vocab_size", "llama.vocab_sizf",
                 "field \"llama.vocab_sizf\" is not supported, found 292");
  expect_refused("llama", "rms_epsilon", "rms_epsilom",
                 "llama.attention.layer_norm_rms_epsilon: expected a value, found none");
}

TEST_F(GgufChanged, tokenizer) {
  using Builder = GgufBuilder;
  const auto text = [](const std::string& key, const std::string& value) {
    return key + Builder::bytes_of<std::uint32_t>(8) + Builder::text_of(value);
  };
  expect_refused("odd-qwen-60k", text("ggml.pre", "qwen2"), text("ggml.pre", "tekke"),
                 "tokenizer.ggml.pre: expected one of " + json(gguf_split_names()).dump() +
                     "; a tokenizer.json beside the file is taken in its place, found \"tekke\"");
  expect_refused("llama", text("ggml.model", "llama"), text("ggml.model", "plamo"),
                 "tokenizer.ggml.model: expected one of");
  expect_number_refused("llama", "ggml.eos_token_id", 2, 292,
                        "tokenizer.ggml.eos_token_id: expected an id below 292, found 292");
  expect_number_refused("llama", "ggml.bos_token_id", 1, 9999, "tokenizer.ggml.bos_token_id: expected an id below 292");
  expect_refused("llama", entry("add_eos_token", 7, std::uint8_t{0}), entry("add_eos_token", 7, std::uint8_t{1}),
                 "tokenizer.ggml.add_eos_token: expected false");
  expect_refused("llama", Builder::bytes_of(-17.0F), std::string("\0\0\xC0\x7F", 4),
                 "tokenizer.ggml.scores[276]: expected a finite number");
  expect_refused("llama", Builder::text_of("<0x41>"), Builder::text_of("<0x4a>"),
                 "tokenizer.ggml.token_type[68]: expected");
}

TEST_F(GgufChanged, a_tokenizer_beside_the_file_is_taken) {
  std::filesystem::copy(gguf_folder() / "llama.gguf", folder_.path() / "x.gguf");
  std::filesystem::copy(gguf_folder() / "llama/tokenizer.json", folder_.path() / "tokenizer.json");
  write_file(folder_.path() / "generation_config.json", "{}");
  ImportOptions options;
  std::vector<std::string> notes;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  const TokenizerData own = read_gguf_tokenizer(GgufFile(folder_.path() / "x.gguf"));
  EXPECT_EQ(import_model(folder_.path(), options).model.tokenizer, own);
  EXPECT_EQ(notes,
            (std::vector<std::string>{"of generation_config.json eos_token_id alone is taken: generation is greedy",
                                      "tokenizer.json beside the GGUF file is taken in place of its own tokenizer"}));
  write_file(folder_.path() / "generation_config.json", R"({"eos_token_id": [3, 5]})");
  const TokenizerData other = import_model(folder_.path()).model.tokenizer;
  std::vector<std::uint32_t> expected{3, 5, own.end_of_text};
  std::ranges::sort(expected);
  EXPECT_EQ(other.ends, expected);
  write_file(folder_.path() / "tokenizer.json", "{}");
  expect_input_error([&] { import_model(folder_.path()); }, "tokenizer.json");
}

TEST_F(GgufChanged, rotary_factors_of_another_kind) {
  const GgufFile file(gguf_folder() / "llama.gguf");
  const Rope rope = read_gguf_config(file).ropes.front();
  EXPECT_EQ(rope.scaling, RopeScaling::llama3);
  EXPECT_EQ(rope.factor, 8);
  EXPECT_EQ(rope.original_positions, 8192);
  const std::vector<float> factors = file.read("rope_freqs.weight");
  std::string stored, changed;
  for (const float factor : factors) {
    stored += GgufBuilder::bytes_of(factor);
    changed += GgufBuilder::bytes_of(factor == 1 ? 1.01F : factor);
  }
  expect_refused("llama", stored, changed, "tensor rope_freqs.weight: expected the factors of Llama 3's scaling");
}

}  // namespace
}  // namespace tessera::test
