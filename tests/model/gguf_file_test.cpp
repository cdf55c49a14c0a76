#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "checkpoints/gguf/blocks.hpp"
#include "checkpoints/gguf/file.hpp"

#include "gguf_builder.hpp"
#include "model_files.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

class Gguf : public testing::Test {
 protected:
  /// One tensor of each type, a row of blocks each.
  Gguf() {
    const json all = gguf_block_vectors();
    for (const auto& [name, vectors] : all.items()) {
      const std::string blocks = from_hex(vectors["blocks"].get<std::string>());
      const std::size_t values = from_hex(vectors["values"].get<std::string>()).size() / sizeof(float);
      builder_.add_tensor({name, {values / 2, 2}, gguf_type_of(name).number, blocks});
    }
    builder_.add_text("general.architecture", "llama");
  }
  [[nodiscard]] GgufFile open() const {
    write_file(path(), builder_.build());
    return GgufFile(path());
  }
  void expect_refused(const std::string& part) const {
    write_file(path(), builder_.build());
    expect_bytes_refused(builder_.build(), part);
  }
  void expect_bytes_refused(const std::string& bytes, const std::string& part) const {
    write_file(path(), bytes);
    expect_input_error([&] { const GgufFile file(path()); }, path().string() + ": " + part);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "x.gguf"; }

  TemporaryFolder folder_;
  GgufBuilder builder_;
};

TEST_F(Gguf, rows_of_every_type_are_read_by_themselves) {
  const GgufFile file = open();
  ASSERT_EQ(file.names().size(), 7U);
  const json expected = gguf_block_vectors();
  for (const auto& [name, vectors] : expected.items()) {
    const std::string bytes = from_hex(vectors["values"].get<std::string>());
    const std::vector<float> all = file.read(name);
    ASSERT_EQ(all.size() * sizeof(float), bytes.size());
    EXPECT_EQ(std::memcmp(all.data(), bytes.data(), bytes.size()), 0) << name;
    EXPECT_EQ(file.entry(name).dtype, name);
    if (all.size() / 2 % gguf_type_of(name).values == 0) {
      std::vector<float> row(all.size() / 2);
      file.read_rows(name, {1, 2}, row);
      EXPECT_TRUE(std::ranges::equal(row, std::span(all).subspan(row.size())));
    }
  }
}

TEST_F(Gguf, metadata_of_every_type) {
  builder_.add_key("a", 0, "\xFF");
  builder_.add_key("b", 1, "\xFF");
  builder_.add_key("c", 5, GgufBuilder::bytes_of<std::int32_t>(-7));
  builder_.add_key("d", 6, GgufBuilder::bytes_of(1e-5F));
  builder_.add_key("e", 7, std::string(1, '\1'));
  builder_.add_key("f", 10, GgufBuilder::bytes_of(~std::uint64_t{0}));
  builder_.add_key("g", 12, GgufBuilder::bytes_of(0.1));
  builder_.add_key(
      "h", 9, GgufBuilder::bytes_of<std::uint32_t>(4) + GgufBuilder::bytes_of<std::uint64_t>(2) + std::string(8, 'x'));
  builder_.add_key("i", 11, GgufBuilder::bytes_of<std::int64_t>(5));
  const json values = open().metadata().values;
  EXPECT_EQ(values["a"], 255);
  EXPECT_EQ(values["b"], -1);
  EXPECT_EQ(values["c"], -7);
  EXPECT_EQ(values["d"], 1e-5);  // and not the float's 9.99999974737875e-06
  EXPECT_EQ(values["e"], true);
  EXPECT_EQ(values["f"], ~std::uint64_t{0});
  EXPECT_EQ(values["g"], 0.1);
  EXPECT_EQ(values["h"], "a list of 2 uint32");
  EXPECT_TRUE(values["i"].is_number_unsigned());
  builder_.version = 2;
  EXPECT_EQ(open().metadata().values, values);
}

TEST_F(Gguf, another_beginning) {
  builder_.magic = "GGML";
  expect_refused("magic number: expected \"GGUF\", found \"GGML\"");
  builder_.magic = std::string("\n\0\x80\x1B", 4);
  expect_refused("magic number: expected \"GGUF\", found \"\\n\\u{0}\\x80\\u{1b}\"");
  builder_.magic = "GGUF";
  for (const auto& [version, found] :
       {std::pair<std::uint32_t, std::string>{1, "1"}, {4, "4"}, {0, "0"}, {0x03000000, "a big-endian file"}}) {
    builder_.version = version;
    expect_refused("version: expected 2 or 3, found " + found);
  }
}

TEST_F(Gguf, counts_beyond_the_file) {
  const std::uint64_t huge = std::uint64_t{1} << 60U;
  builder_.extra_tensors = huge;
  expect_refused("number of tensors: expected at most ");
  builder_.extra_tensors = 0;
  builder_.extra_keys = huge;
  expect_refused("number of metadata keys: expected at most ");
}

TEST_F(Gguf, lengths_beyond_the_file) {
  for (const std::uint64_t length : {std::uint64_t{1} << 60U, ~std::uint64_t{0}, std::uint64_t{1} << 20U}) {
    const std::string size = GgufBuilder::bytes_of(length);
    GgufBuilder builder;
    builder.add_key("x", 8, size);
    expect_bytes_refused(builder.build(),
                         "metadata \"x\": length: expected at most 0, found " + std::to_string(length));
    builder = {};
    builder.add_key("x", 9, GgufBuilder::bytes_of<std::uint32_t>(8) + size);
    expect_bytes_refused(builder.build(), "metadata \"x\": number of entries: expected at most 0, found ");
    builder = {};
    builder.add_key("tokenizer.ggml.tokens", 9,
                    GgufBuilder::bytes_of<std::uint32_t>(8) + GgufBuilder::bytes_of<std::uint64_t>(1) + size);
    expect_bytes_refused(builder.build(), "metadata \"tokenizer.ggml.tokens\"[0]: length: expected at most 0, found ");
    expect_bytes_refused("GGUF" + GgufBuilder::bytes_of<std::uint32_t>(3) + GgufBuilder::bytes_of<std::uint64_t>(0) +
                             GgufBuilder::bytes_of<std::uint64_t>(1) + size + std::string(13, 'k'),
                         "key 0: length: expected at most 13, found " + std::to_string(length));
  }
}

TEST_F(Gguf, lists_of_lists_and_unknown_types) {
  GgufBuilder builder = builder_;
  builder.add_key("x", 9, GgufBuilder::bytes_of<std::uint32_t>(9) + std::string(100, '\0'));
  expect_bytes_refused(builder.build(), "metadata \"x\": expected a list of numbers or texts, found a list of lists");
  builder = builder_;
  builder.add_key("x", 13, "");
  expect_bytes_refused(builder.build(), "metadata \"x\": type: expected a type below 13, found 13");
  builder = builder_;
  builder.add_key("x", 7, "\2");
  expect_bytes_refused(builder.build(), "metadata \"x\": expected 0 or 1, found 2");
  builder = builder_;
  builder.add_text("x", "\xFF");
  expect_bytes_refused(builder.build(), "metadata \"x\": expected UTF-8, found \"\\xff\"");
  builder = builder_;
  builder.add_text("general.architecture", "llama");
  expect_bytes_refused(builder.build(), "metadata \"general.architecture\": expected each key once, found it twice");
}

TEST_F(Gguf, dimensions) {
  GgufBuilder::Tensor& tensor = builder_.tensors.front();
  ASSERT_EQ(tensor.name, "BF16");
  const std::uint64_t half = std::uint64_t{1} << 32U;
  for (const std::vector<std::uint64_t>& dimensions : std::vector<std::vector<std::uint64_t>>{
           {half, half, 32}, {0}, {std::uint64_t{1} << 60U}, {~std::uint64_t{0}, ~std::uint64_t{0}}, {4, 0}}) {
    tensor.dimensions = dimensions;
    expect_refused("tensor \"BF16\": dimensions: expected positive ones that fit the file, found ");
  }
  tensor.dimensions = {};
  expect_refused("tensor \"BF16\": number of dimensions: expected 1 to 4, found 0");
  tensor.dimensions = {1, 1, 1, 1, 64};
  expect_refused("tensor \"BF16\": number of dimensions: expected 1 to 4, found 5");
}

TEST_F(Gguf, types) {
  GgufBuilder::Tensor& tensor = builder_.tensors.front();
  const std::string expected = "tensor \"BF16\": type: expected " + gguf_type_names() + ", found ";
  EXPECT_EQ(gguf_type_names(),
            "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, Q8_K, IQ1_S, IQ1_M, "
            "IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0, MXFP4 or NVFP4");
  for (const auto& [number, name] : {std::pair<std::uint32_t, std::string>{24, "I8"},
                                     {28, "F64"},
                                     {41, "Q1_0"},
                                     {38, "number 38"},
                                     {5, "number 5"},
                                     {4000000000, "number 4000000000"}}) {
    tensor.type = number;
    expect_refused(expected + name);
  }
  tensor.type = 12;
  tensor.dimensions = {128, 2};
  expect_refused("tensor \"BF16\": dimensions: expected rows of whole blocks of 256 values, found 128");
}

TEST_F(Gguf, offsets) {
  GgufBuilder::Tensor& second = builder_.tensors[1];
  const std::uint64_t good = second.offset;
  const std::string what = "tensor \"" + second.name + "\": offset: expected ";
  second.offset = good + 1;
  expect_refused(what + "a multiple of the alignment 32, found " + std::to_string(good + 1));
  second.offset = good + 32;
  expect_refused(what + std::to_string(good) + ", found " + std::to_string(good + 32) + " (leaves a gap)");
  second.offset = 0;
  EXPECT_ANY_THROW((void)open());
  second.offset = ~std::uint64_t{31};
  EXPECT_ANY_THROW((void)open());
  second.offset = good;
  builder_.tensors[2].offset = good;
  write_file(path(), builder_.build());
  expect_input_error([&] { const GgufFile file(path()); }, "(overlaps the one before it)");
}

TEST_F(Gguf, names) {
  builder_.tensors[1].name = builder_.tensors[0].name;
  expect_refused("tensor \"BF16\": expected each name once, found it twice");
  builder_.tensors[1].name = std::string(65, 'x');
  expect_refused("name of tensor 1: length: expected at most 64, found 65");
}

TEST_F(Gguf, alignment) {
  for (const std::uint32_t alignment : {0U, 3U, 48U, 1U << 17U}) {
    GgufBuilder builder = builder_;
    builder.add_number("general.alignment", alignment);
    expect_bytes_refused(builder.build(),
                         "general.alignment: expected a power of two up to 65536, found " + std::to_string(alignment));
  }
  GgufBuilder wide;
  wide.alignment = 128;
  wide.add_number("general.alignment", 128);
  wide.add_tensor({"a", {1}, 0, GgufBuilder::bytes_of(1.5F)});
  wide.add_tensor({"b", {1}, 0, GgufBuilder::bytes_of(2.5F)});
  write_file(path(), wide.build());
  EXPECT_EQ(GgufFile(path()).read("b"), std::vector<float>{2.5F});
}

TEST_F(Gguf, truncated_at_any_place) {
  const std::string bytes = builder_.build();
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 50) {
    expect_bytes_refused(bytes.substr(0, length), "");
  }
  expect_bytes_refused(bytes.substr(0, bytes.size() - 1), "tensor \"Q8_0\": expected ");
  expect_bytes_refused(bytes + std::string(32, '\0'), "expected the file to end at ");
}

TEST_F(Gguf, scales_that_are_not_finite) {
  for (GgufBuilder::Tensor& tensor : builder_.tensors) {
    if (tensor.name == "Q8_0" || tensor.name == "Q4_K") {
      tensor.data[0] = '\1';
      tensor.data[1] = '\x7E';
    }
  }
  const GgufFile file = open();
  expect_input_error([&] { (void)file.read("Q8_0"); }, "tensor Q8_0[0]: expected a finite number, found NaN");
  expect_input_error([&] { (void)file.read("Q4_K"); }, "tensor Q4_K[0]: expected a finite number, found NaN");
}

}  // namespace
}  // namespace tessera::test
