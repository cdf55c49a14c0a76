#include <cstring>
#include <limits>

#include "base/errors.hpp"
#include "checkpoints/checkpoint_files.hpp"
#include "checkpoints/checkpoint_tensors.hpp"

#include "checkpoint_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

/// odd-40k in two files with an index.
class Shards : public CheckpointFixture {
 protected:
  static constexpr const char* names[] = {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};

  Shards() {
    std::size_t number = 0;
    for (const auto& [tensor, entry] : header_.items()) {
      if (tensor != "__metadata__") {
        put(number++ < 10 ? 0 : 1, tensor);
      }
    }
  }
  /// Moves a tensor to the end of a shard, with its place in the index.
  void put(std::size_t shard, const std::string& tensor) {
    json entry = header_[tensor];
    const std::size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    entry["data_offsets"] = {shard_data_[shard].size(), shard_data_[shard].size() + end - begin};
    shard_data_[shard] += data_.substr(begin, end - begin);
    shard_header_[shard][tensor] = entry;
    index_["weight_map"][tensor] = names[shard];
  }
  void write() const {
    write_file(folder_.path() / "config.json", config_.dump());
    write_file(folder_.path() / "model.safetensors.index.json", index_.dump());
    for (std::size_t i = 0; i < 2; ++i) {
      write_file(folder_.path() / names[i], file_of(shard_header_[i].dump(), shard_data_[i]));
    }
  }
  void expect_shards_refused(const std::string& part) const {
    write();
    expect_index_refused(part);
  }
  void expect_index_refused(const std::string& part) const {
    write_file(folder_.path() / "model.safetensors.index.json", index_.dump());
    expect_input_error([&] { const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights); }, part);
  }

  json index_ = {{"metadata", {{"total_size", 1}}}, {"weight_map", json::object()}};
  json shard_header_[2] = {json::object(), json::object()};
  std::string shard_data_[2];
};

TEST_F(Shards, give_the_same_model) {
  write();
  const FloatModel model = load_checkpoint(folder_.path());
  EXPECT_EQ(model.parameters, load_checkpoint(model_folder("odd-40k")).parameters);
  const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights);
  EXPECT_EQ(tensors.names().size(), index_["weight_map"].size());
  EXPECT_THAT(tensors.place_of("wte.weight"), testing::HasSubstr(names[1]));
  EXPECT_THAT(tensors.place_of("none"), testing::HasSubstr("index.json"));
  EXPECT_FALSE(tensors.contains("none"));
}

TEST_F(Shards, one_file_comes_before_the_index) {
  index_["weight_map"]["none"] = names[0];
  write();
  write_raw(file_of(header_.dump(), data_));
  EXPECT_NO_THROW((void)load_checkpoint(folder_.path()));
}

TEST_F(Shards, rows_are_read_by_themselves) {
  write();
  const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights);
  const TensorEntry& entry = tensors.entry("wte.weight");
  ASSERT_EQ(entry.extents, (std::vector<std::size_t>{300, 36}));
  const std::vector<float> all = tensors.read("wte.weight");
  for (const Range rows : {Range{0, 300}, Range{0, 1}, Range{17, 40}, Range{299, 300}, Range{5, 5}}) {
    std::vector<float> values(rows.size() * 36);
    tensors.read_rows("wte.weight", rows, values);
    EXPECT_TRUE(std::ranges::equal(values, std::span(all).subspan(rows.first * 36, values.size())));
  }
}

TEST_F(Shards, an_absent_file) {
  index_["weight_map"]["wte.weight"] = "model-00003-of-00002.safetensors";
  expect_shards_refused("tensor \"wte.weight\": its file \"model-00003-of-00002.safetensors\" is missing");
}

TEST_F(Shards, a_tensor_that_its_file_lacks) {
  index_["weight_map"]["zzz"] = names[1];
  expect_shards_refused(std::string("tensor \"zzz\" is not in the file that is said to have it, ") +
                        folder_.path().string() + "/" + names[1]);
  index_["weight_map"].erase("zzz");
  index_["weight_map"]["wte.weight"] = names[0];
  expect_shards_refused("tensor \"wte.weight\" is not in the file");
}

TEST_F(Shards, a_tensor_that_the_index_lacks) {
  index_["weight_map"].erase("wte.weight");
  expect_shards_refused(std::string(names[1]) + ": tensor \"wte.weight\" is not said to be in this file");
}

TEST_F(Shards, a_tensor_in_both_files) {
  put(0, "wte.weight");
  index_["weight_map"]["wte.weight"] = names[1];
  expect_shards_refused(std::string(names[0]) + ": tensor \"wte.weight\" is not said to be in this file");
}

TEST_F(Shards, an_index_of_another_form) {
  write();
  const json good = index_;
  for (const json& file : {json("../x.safetensors"), json("/x.safetensors"), json("a/x.safetensors"),
                           json("config.json"), json(""), json(3), json(nullptr), json(".safetensors/"), json("..")}) {
    index_["weight_map"]["wte.weight"] = file;
    expect_index_refused("tensor \"wte.weight\": expected the name of a *.safetensors file");
    index_ = good;
  }
  index_["weight_map"] = json::object();
  expect_index_refused("weight_map: expected an object");
  index_["weight_map"] = 3;
  expect_index_refused("weight_map: expected an object");
  index_.erase("weight_map");
  expect_index_refused("weight_map: expected an object");
  index_ = good;
  index_["files"] = 3;
  expect_index_refused("field \"files\" is not supported");
  index_ = json::array();
  expect_index_refused("JSON object");
  write_file(folder_.path() / "model.safetensors.index.json", R"({"weight_map": {"a": "x", "a": "x"}})");
  expect_input_error([&] { const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights); },
                     "duplicate key");
}

TEST_F(Shards, damage_is_named_with_file_and_tensor) {
  write();
  write_file(folder_.path() / names[1], file_of(shard_header_[1].dump(), shard_data_[1].substr(1)));
  expect_index_refused(names[1]);
}

TEST_F(Shards, random_bytes_never_crash) {
  write();
  const std::string good = index_.dump();
  std::uint64_t state = 1;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = good;
    for (int change = 0; change < 2; ++change) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      bytes[(state >> 33U) % bytes.size()] = static_cast<char>(state >> 56U);
    }
    write_file(folder_.path() / "model.safetensors.index.json", bytes);
    try {
      const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights);
    } catch (const InputError&) {
    }
  }
}

TEST_F(Shards, types_differ_by_tensor_and_values_are_exact) {
  const auto bits_of = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  std::string brain;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto value = static_cast<std::uint16_t>((bits & 0x7F80U) == 0x7F80U ? 0 : bits);
    brain.append(reinterpret_cast<const char*>(&value), 2);
  }
  header_ = json::object();
  data_.clear();
  append("brain", "BF16", {256, 256}, brain);
  append("half", "F16", {1}, std::string("\x00\x3C", 2));
  append("single", "F32", json::array(), std::string("\x01\x00\x80\x3F", 4));
  append("integer", "I64", {1}, std::string(8, '\0'));
  write_raw(file_of(header_.dump(), data_));
  const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights);
  const std::vector<float> values = tensors.read("brain");
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    ASSERT_EQ(bits_of(values[bits]), (bits & 0x7F80U) == 0x7F80U ? 0 : bits << 16U);
  }
  EXPECT_EQ(tensors.read("half"), std::vector<float>{1.0F});
  float single = 0;
  tensors.read_rows("single", {0, 1}, {&single, 1});
  EXPECT_EQ(single, 1 + 0x1p-23F);
  expect_input_error([&] { (void)tensors.read("integer"); },
                     "tensor integer.dtype: expected F32, F16 or BF16, found I64");
}

TEST_F(Shards, numbers_that_are_not_finite_are_named_with_their_index) {
  std::string large(3U << 20U, '\0');  // more than one piece is read
  for (const auto& [bits, what] : {std::pair<std::uint16_t, std::string>{0x7FC0, "NaN"}, {0xFF80, "infinity"}}) {
    header_ = json::object();
    data_.clear();
    std::memcpy(large.data() + 2 * 1234567, &bits, 2);
    append("x", "BF16", {3, 1U << 19U}, large);
    write_raw(file_of(header_.dump(), data_));
    const CheckpointTensors tensors(find_checkpoint(folder_.path()).weights);
    expect_input_error([&] { (void)tensors.read("x"); }, "tensor x[1234567]: expected a finite number, found " + what);
    std::vector<float> row(1U << 19U);
    EXPECT_NO_THROW(tensors.read_rows("x", {1, 2}, row));
    expect_input_error([&] { tensors.read_rows("x", {2, 3}, row); }, "tensor x[1234567]: expected a finite number");
  }
}

}  // namespace
}  // namespace tessera::test
