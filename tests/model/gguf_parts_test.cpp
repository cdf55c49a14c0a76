#include <gtest/gtest.h>

#include "base/little_endian.hpp"
#include "checkpoints/checkpoint_files.hpp"
#include "checkpoints/gguf/blocks.hpp"
#include "checkpoints/gguf/file.hpp"
#include "checkpoints/gguf/parts.hpp"
#include "integer_model/import.hpp"

#include "gguf_builder.hpp"
#include "model_files.hpp"

namespace tessera::test {
namespace {

/// tests/gguf/llama.gguf in three parts: keys alone, then half of the tensors each.
class GgufParts : public testing::Test {
 protected:
  GgufParts() : parts_(3) {
    const GgufFile whole(whole_path());
    const std::string bytes = file_bytes(whole_path());
    std::size_t keys_end = bytes.size();
    for (const std::string& name : whole.names()) {
      keys_end = std::min(keys_end, bytes.find(GgufBuilder::text_of(name)));
    }
    constexpr std::size_t keys_begin = 24;  // behind magic number, version and two counts
    parts_[0].add_keys(bytes.substr(keys_begin, keys_end - keys_begin),
                       read_little_endian<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()) + 16));
    std::size_t count = 0;
    for (const std::string& name : whole.names()) {
      const TensorEntry& entry = whole.entry(name);
      const std::vector<std::uint64_t> dimensions(entry.extents.rbegin(), entry.extents.rend());
      parts_[1 + count++ % 2].add_tensor(
          {name, dimensions, gguf_type_of(entry.dtype).number, bytes.substr(entry.offset, entry.length)});
    }
    tensors_ = static_cast<std::uint32_t>(count);
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
      add_numbers(parts_[number], number, 3, tensors_);
    }
  }
  static std::filesystem::path whole_path() {
    return std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/gguf/llama.gguf";
  }
  static void add_numbers(GgufBuilder& part, std::uint32_t number, std::uint32_t count, std::uint32_t tensors) {
    part.add_key(split_number, 2, GgufBuilder::bytes_of(static_cast<std::uint16_t>(number)));
    part.add_key(split_count, 2, GgufBuilder::bytes_of(static_cast<std::uint16_t>(count)));
    part.add_key(split_tensors, 5, GgufBuilder::bytes_of(static_cast<std::int32_t>(tensors)));
  }
  [[nodiscard]] std::filesystem::path path(std::size_t number) const {
    return folder_.path() / ("llama-0000" + std::to_string(number + 1) + "-of-00003.gguf");
  }
  void write() const {
    for (std::size_t number = 0; number < parts_.size(); ++number) {
      write_file(path(number), parts_[number].build());
    }
  }
  void expect_refused(const std::string& part) const {
    expect_input_error([&] { const GgufFile file(path(0)); }, part);
  }

  TemporaryFolder folder_;
  std::vector<GgufBuilder> parts_;
  std::uint32_t tensors_ = 0;
};

TEST_F(GgufParts, are_one_model) {
  write();
  const ImportedModel expected = import_model(whole_path());
  for (const std::filesystem::path& place : {path(0), folder_.path()}) {
    const ImportedModel found = import_model(place);
    EXPECT_EQ(found.model.parameters, expected.model.parameters);
    EXPECT_EQ(found.model.tokenizer, expected.model.tokenizer);
    EXPECT_EQ(found.model.exponents, expected.model.exponents);
    ASSERT_EQ(found.model.origin.files.size(), 3U);
    EXPECT_EQ(found.model.origin.files[2].name, "llama-00003-of-00003.gguf");
    EXPECT_EQ(found.model.origin.tensor_types, expected.model.origin.tensor_types);
  }
}

TEST_F(GgufParts, of_another_number_or_missing) {
  write();
  expect_input_error([&] { const GgufFile file(path(1)); },
                     path(1).string() + ": expected the first of 3 parts, named *-00001-of-00003.gguf, found ");
  std::filesystem::copy_file(path(2), path(1), std::filesystem::copy_options::overwrite_existing);
  expect_refused(path(1).string() + ": split.no: expected 1, found 2");
  std::filesystem::remove(path(1));
  expect_refused(path(1).string() + ": cannot be read");
  expect_input_error([&] { (void)find_checkpoint(folder_.path()); }, "expected *.safetensors or one *.gguf file");
  std::filesystem::copy_file(path(0), folder_.path() / "x.gguf");
  expect_input_error([&] { const GgufFile file(folder_.path() / "x.gguf"); },
                     "x.gguf: expected the first of 3 parts, named *-00001-of-00003.gguf, found \"x.gguf\"");
}

TEST_F(GgufParts, that_do_not_belong_together) {
  const std::vector<GgufBuilder> good = parts_;
  parts_[2] = {};
  add_numbers(parts_[2], 2, 4, tensors_);
  write();
  expect_refused(path(2).string() + ": split.count: expected 3, found 4");
  parts_ = good;
  parts_[2].add_text("general.architecture", "qwen2");
  write();
  expect_refused(path(2).string() +
                 ": metadata \"general.architecture\": expected what the first part says, found \"qwen2\"");
  parts_ = good;
  parts_[2].add_text("general.architecture", "llama");
  write();
  EXPECT_NO_THROW(GgufFile{path(0)});
  parts_ = good;
  parts_[2] = {};
  add_numbers(parts_[2], 2, 3, tensors_);
  write();
  expect_refused(path(0).string() + ": split.tensors.count: expected " + std::to_string(parts_[1].tensors.size()) +
                 ", found " + std::to_string(tensors_));
  parts_[2] = parts_[1];
  parts_[2].add_text("x", "");
  write();
  expect_refused(path(2).string() + ": tensor ");
}

}  // namespace
}  // namespace tessera::test
