#include "checkpoints/origin.hpp"

#include <openssl/evp.h>

#include <memory>

#include "base/errors.hpp"
#include "checkpoints/checkpoint_tensors.hpp"
#include "checkpoints/gguf/file.hpp"

namespace tessera {
namespace {

constexpr std::size_t hashed_at_once = 1U << 20U;

Origin::File describe(const std::string& path) {
  const InputFile file(path);
  Origin::File result{std::filesystem::path(path).filename().string(), file.size(), {}};
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::vector<std::uint8_t> piece;
  bool good = hash != nullptr && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1;
  for (std::uint64_t begin = 0; begin < file.size(); begin += piece.size()) {
    piece.resize(std::min<std::uint64_t>(hashed_at_once, file.size() - begin));
    if (!file.read(begin, piece)) {
      throw InputError(path + ": cannot be read");
    }
    good = good && EVP_DigestUpdate(hash.get(), piece.data(), piece.size()) == 1;
  }
  if (!good || EVP_DigestFinal_ex(hash.get(), result.sha256.data(), nullptr) != 1) {
    throw JobError(path + ": SHA-256 failed");
  }
  return result;
}

}  // namespace

Origin origin_of(const CheckpointFiles& files) {
  Origin origin;
  std::unique_ptr<StoredTensors> tensors;
  if (files.format == CheckpointFormat::gguf) {
    origin.format = "GGUF";
    tensors = std::make_unique<GgufFile>(files.weights);
  } else {
    origin.format = "safetensors";
    tensors = std::make_unique<CheckpointTensors>(files.weights);
  }
  for (const std::string& name : tensors->names()) {
    ++origin.tensor_types[tensors->entry(name).dtype];
  }
  for (const std::string& path : tensors->files()) {
    origin.files.push_back(describe(path));
  }
  return origin;
}

}  // namespace tessera
