#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tessera::test {

/// configs/<model>: half-precision weights, tokenizer, sample.txt, reference.json.
std::filesystem::path model_folder(const std::string& model);
/// The folder beside the project with single-precision weights and eval.txt; may be absent.
std::filesystem::path full_model_folder(const std::string& model);
/// That, or where it is absent the bundled one.
std::filesystem::path best_model_folder(const std::string& model);
std::filesystem::path evaluation_text(const std::string& model);
nlohmann::json reference(const std::string& model);

std::string file_bytes(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);
std::string sha256_hex(const std::string& bytes);
/// The bytes that pairs of hexadecimal digits say.
std::string from_hex(const std::string& text);
/// gguf/blocks.json: blocks of each type and the values that a reference makes of them, both in hexadecimal.
nlohmann::json gguf_block_vectors();

/// A fresh folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Expects an InputError of one line whose message contains `part`.
void expect_input_error(const std::function<void()>& action, const std::string& part);

inline std::string model_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace tessera::test
