#include <cstring>
#include <limits>
#include "base/errors.hpp"

#include "checkpoint_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

class Safetensors : public CheckpointFixture {};

TEST_F(Safetensors, every_half_value_is_read_exactly) {
  std::string bytes;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const bool finite = (bits & 0x7C00U) != 0x7C00U;
    const auto value = static_cast<std::uint16_t>(finite ? bits : 0);
    bytes.append(reinterpret_cast<const char*>(&value), 2);
  }
  data_.clear();
  header_ = json::object();
  append("x", "F16", {65536}, bytes);
  write_raw(file_of(header_.dump(), data_));
  SafetensorsFile file(folder_.path() / "model.safetensors");
  const std::vector<float> values = file.read("x");
  EXPECT_EQ(values[0x3C00], 1.0F);
  EXPECT_EQ(values[0xC000], -2.0F);
  EXPECT_EQ(values[0x0001], 0x1p-24F);
  EXPECT_EQ(values[0x03FF], 1023 * 0x1p-24F);
  EXPECT_EQ(values[0x0400], 0x1p-14F);
  EXPECT_EQ(values[0x7BFF], 65504.0F);
  for (std::size_t i = 1; i < 0x7C00; ++i) {
    ASSERT_LT(values[i - 1], values[i]);
    ASSERT_EQ(values[i + 0x8000], -values[i]);
  }
}

TEST_F(Safetensors, truncated_at_any_place) {
  const std::string bytes = file_of(header_.dump(), data_);
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 7) {
    expect_raw_refused(bytes.substr(0, length), "model.safetensors");
  }
  expect_raw_refused(bytes.substr(0, bytes.size() - 1), "data_offsets");
  expect_raw_refused(bytes + '\0', "expected the file to end");
}

TEST_F(Safetensors, hostile_header_length) {
  std::string bytes = file_of(header_.dump(), data_);
  for (const std::uint64_t length : {std::uint64_t{1} << 40U, std::numeric_limits<std::uint64_t>::max(),
                                     static_cast<std::uint64_t>(bytes.size() - 7)}) {
    std::memcpy(bytes.data(), &length, sizeof length);
    expect_raw_refused(bytes, "header length");
  }
}

TEST_F(Safetensors, header_that_is_not_an_object) {
  expect_raw_refused(file_of("[1, 2]", data_), "JSON object");
  expect_raw_refused(file_of("{\"a\": ", data_), "not valid JSON");
  expect_raw_refused(file_of(std::string(100000, '['), data_), "JSON");
  expect_raw_refused(file_of("{\"a\": 1, \"a\": 2}", data_), "duplicate key");
  expect_raw_refused(file_of("{\"a\\nb\": 1}", data_), "\"a\\nb\"");
}

TEST_F(Safetensors, overlapping_offsets) {
  const std::size_t begin = header_["ln_f.weight"]["data_offsets"][0];
  const std::size_t end = header_["ln_f.weight"]["data_offsets"][1];
  header_["ln_f.weight"]["data_offsets"] = {begin - 2, end - 2};
  expect_refused("overlaps");
  header_["ln_f.weight"]["data_offsets"] = header_["ln_f.bias"]["data_offsets"];
  expect_refused("overlaps");
}

TEST_F(Safetensors, a_gap_in_the_data) {
  header_.erase("ln_f.weight");
  expect_refused("leaves a gap");
}

TEST_F(Safetensors, offsets_outside_the_file) {
  for (const json& offsets : {json{0, std::uint64_t{1} << 62U}, json{100, 10}, json{-4, 68}, json{0.5, 72.5},
                              json{"0", "72"}, json{1, 2, 3}}) {
    header_["ln_f.weight"]["data_offsets"] = offsets;
    expect_refused("ln_f.weight");
  }
}

TEST_F(Safetensors, extents_whose_product_wraps) {
  const std::uint64_t large = std::uint64_t{1} << 32U;
  for (const json& shape : {json{large, large, 36}, json{0}, json{-36}, json{36, "1"}, json(36)}) {
    header_["ln_f.weight"]["shape"] = shape;
    expect_refused("ln_f.weight");
  }
}

TEST_F(Safetensors, random_bytes_never_crash) {
  const std::string good = file_of(header_.dump(), data_);
  std::uint64_t state = 1;
  for (int round = 0; round < 500; ++round) {
    std::string bytes = good;
    for (int change = 0; change < 3; ++change) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      bytes[(state >> 33U) % (header_.dump().size() + 8)] = static_cast<char>(state >> 56U);
    }
    write_raw(bytes);
    try {
      static_cast<void>(load_checkpoint(folder_.path()));
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace tessera::test
