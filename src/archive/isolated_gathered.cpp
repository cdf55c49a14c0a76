#include "archive/isolated_gathered.hpp"

#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "datasets/image_file.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t another_format = 0;
constexpr std::uint8_t list_follows = 1;

/// Run in the child: whether the file is an archive of many proofs, and its list if so.
Bytes list(const std::filesystem::path& path, std::span<const std::uint8_t> image, bool check) {
  const ImageFile file(path.string(), image, {});
  if (file.format() != gathered_format) {
    return {another_format};
  }
  Bytes bytes{list_follows};
  const Bytes proofs = encode_gathered(read_gathered(file));
  bytes.insert(bytes.end(), proofs.begin(), proofs.end());
  if (check) {
    file.check_all();
  }
  return bytes;
}

}  // namespace

std::optional<std::vector<GatheredProof>> list_gathered_isolated(const std::filesystem::path& path, bool check) {
  return naming(path, [&]() -> std::optional<std::vector<GatheredProof>> {
    const IsolationLimits limits = check ? IsolationLimits::for_whole(path) : IsolationLimits{};
    const Bytes bytes = read_isolated(
        path, [&](std::span<const std::uint8_t> image) { return list(path, image, check); }, limits);
    if (bytes == Bytes{another_format}) {
      return std::nullopt;
    }
    if (bytes.empty() || bytes.front() != list_follows) {
      throw InputError("expected a readable file, found one that breaks the reader");
    }
    return decode_gathered(std::span(bytes).subspan(1));
  });
}

Bytes encode_gathered(std::span<const GatheredProof> proofs) {
  Bytes bytes;
  for (const GatheredProof& proof : proofs) {
    append_little_endian(bytes, proof.offset);
    append_little_endian(bytes, proof.bytes);
    append_little_endian(bytes, static_cast<std::uint32_t>(proof.name.size()));
    bytes.insert(bytes.end(), proof.name.begin(), proof.name.end());
  }
  return bytes;
}

std::vector<GatheredProof> decode_gathered(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t head = 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
  const auto require = [](bool good) {
    if (!good) {
      throw InputError("expected names and lengths of proofs, found others");
    }
  };
  std::vector<GatheredProof> proofs;
  while (!bytes.empty()) {
    require(bytes.size() >= head);
    const auto length = read_little_endian<std::uint32_t>(bytes.data() + 2 * sizeof(std::uint64_t));
    require(length <= bytes.size() - head);
    GatheredProof proof{{},
                        read_little_endian<std::uint64_t>(bytes.data()),
                        read_little_endian<std::uint64_t>(bytes.data() + sizeof(std::uint64_t))};
    const std::span<const std::uint8_t> name = bytes.subspan(head, length);
    proof.name.assign(name.begin(), name.end());
    require(is_gathered_name(proof.name) && proof.bytes <= max_proof_file_bytes);
    proofs.push_back(std::move(proof));
    bytes = bytes.subspan(head + length);
  }
  require(!proofs.empty());
  return proofs;
}

}  // namespace tessera
