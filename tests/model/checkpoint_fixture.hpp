#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/safetensors.hpp"

#include "model_files.hpp"

namespace tessera::test {

/// A checkpoint folder with the header and the data of a model (half precision) that a test may spoil.
class CheckpointFixture : public testing::Test {
 protected:
  explicit CheckpointFixture(const std::string& model = "odd-40k") {
    config_ = nlohmann::json::parse(file_bytes(model_folder(model) / "config.json"));
    const std::string bytes = file_bytes(model_folder(model) / "model_f16.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header_ = nlohmann::json::parse(bytes.substr(8, length));
    data_ = bytes.substr(8 + length);
  }

  static std::string file_of(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    return bytes + header + data;
  }
  void write_raw(const std::string& bytes) const {
    write_file(folder_.path() / "config.json", config_.dump());
    write_file(folder_.path() / "model.safetensors", bytes);
  }
  FloatModel load() const {
    write_raw(file_of(header_.dump(), data_));
    return load_checkpoint(folder_.path());
  }
  void expect_refused(const std::string& part) const {
    expect_input_error([&] { static_cast<void>(load()); }, part);
  }
  void expect_raw_refused(const std::string& bytes, const std::string& part) const {
    write_raw(bytes);
    expect_input_error([&] { static_cast<void>(load_checkpoint(folder_.path())); }, part);
  }
  /// Adds a tensor at the end of the data.
  void append(const std::string& name, const std::string& dtype, const nlohmann::json& shape,
              const std::string& bytes) {
    header_[name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {data_.size(), data_.size() + bytes.size()}}};
    data_ += bytes;
  }
  /// Rewrites all tensors with another dtype through `convert`, from their values.
  template <class Convert>
  void convert_all(const std::string& dtype, std::size_t width, Convert convert) {
    SafetensorsFile file(model_folder("odd-40k") / "model_f16.safetensors");
    header_ = nlohmann::json::object();
    data_.clear();
    for (const auto& [name, entry] : file.tensors()) {
      std::string bytes;
      for (const float value : file.read(name)) {
        const auto bits = convert(value);
        bytes.append(reinterpret_cast<const char*>(&bits), width);
      }
      append(name, dtype, entry.extents, bytes);
    }
  }

  TemporaryFolder folder_;
  nlohmann::json config_, header_;
  std::string data_;
};

}  // namespace tessera::test
