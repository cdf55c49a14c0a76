#include "model_files.hpp"

#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include "base/errors.hpp"

namespace tessera::test {

namespace fs = std::filesystem;

fs::path model_folder(const std::string& model) { return fs::path(TESSERA_SOURCE_DIR) / "configs" / model; }

fs::path full_model_folder(const std::string& model) {
  return fs::path(TESSERA_SOURCE_DIR) / ".." / "shared" / "models" / model;
}

fs::path best_model_folder(const std::string& model) {
  return fs::exists(full_model_folder(model)) ? full_model_folder(model) : model_folder(model);
}

fs::path evaluation_text(const std::string& model) { return full_model_folder(model) / "eval.txt"; }

nlohmann::json reference(const std::string& model) {
  return nlohmann::json::parse(file_bytes(model_folder(model) / "reference.json"));
}

std::string file_bytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw std::runtime_error("cannot read " + path.string());
  }
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

void write_file(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string sha256_hex(const std::string& bytes) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += {digits[byte >> 4U], digits[byte & 15U]};
  }
  return hex;
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

nlohmann::json gguf_block_vectors() {
  return nlohmann::json::parse(file_bytes(fs::path(TESSERA_SOURCE_DIR) / "tests/gguf/blocks.json"));
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "tessera-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot create " + name);
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void expect_input_error(const std::function<void()>& action, const std::string& part) {
  try {
    action();
    FAIL() << "nothing was refused; expected a message with: " << part;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, testing::HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace tessera::test
