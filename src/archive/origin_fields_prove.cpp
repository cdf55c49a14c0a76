#include "archive/origin_fields.hpp"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::uint64_t max_files = 1000, max_types = 64, max_text_bytes = 1 << 20;
constexpr std::size_t digest_bytes = sizeof(Origin::File::sha256);

}  // namespace

void write_origin(WriteFile& file, const Origin& origin) {
  if (origin.format.empty()) {
    return;
  }
  std::vector<std::string> names, types;
  std::vector<std::uint64_t> bytes, counts;
  std::vector<std::uint8_t> digests;
  for (const Origin::File& source : origin.files) {
    names.push_back(source.name);
    bytes.push_back(source.bytes);
    digests.insert(digests.end(), source.sha256.begin(), source.sha256.end());
  }
  for (const auto& [type, count] : origin.tensor_types) {
    types.push_back(type);
    counts.push_back(count);
  }
  file.write_text("origin/format", origin.format);
  file.write_texts("origin/files", names);
  file.write("origin/bytes", bytes);
  file.write("origin/sha256", std::span<const std::uint8_t>(digests), {names.size(), digest_bytes});
  file.write_texts("origin/tensor_types", types);
  file.write("origin/tensor_counts", counts);
}

Origin read_origin(const ReadFile& file) {
  Origin origin;
  if (!file.contains("origin/format")) {
    return origin;
  }
  origin.format = file.read_text("origin/format", 64);
  const std::vector<std::string> names = file.read_texts("origin/files", max_files, max_text_bytes);
  const std::vector<std::uint64_t> bytes = file.read<std::uint64_t>("origin/bytes", {names.size()});
  const std::vector<std::uint8_t> digests = file.read<std::uint8_t>("origin/sha256", {names.size(), digest_bytes});
  for (std::size_t i = 0; i < names.size(); ++i) {
    origin.files.push_back({names[i], bytes[i], {}});
    std::copy_n(digests.begin() + static_cast<std::ptrdiff_t>(i * digest_bytes), digest_bytes,
                origin.files.back().sha256.begin());
  }
  const std::vector<std::string> types = file.read_texts("origin/tensor_types", max_types, max_text_bytes);
  const std::vector<std::uint64_t> counts = file.read<std::uint64_t>("origin/tensor_counts", {types.size()});
  for (std::size_t i = 0; i < types.size(); ++i) {
    origin.tensor_types[types[i]] = counts[i];
  }
  return origin;
}

}  // namespace tessera
