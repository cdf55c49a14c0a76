#include "checkpoints/gguf/file.hpp"

#include <algorithm>
#include <cassert>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/gguf/blocks.hpp"
#include "checkpoints/gguf/parts.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr std::size_t piece_bytes = 1U << 20U;  // about, read at a time

/// A number of the metadata, 0 where there is none.
std::uint64_t number_of(const GgufMetadata& metadata, const char* key, const std::string& file) {
  const auto found = metadata.values.find(key);
  if (found == metadata.values.end()) {
    return 0;
  }
  if (!found->is_number_unsigned()) {
    throw InputError(file + ": metadata " + quoted_name(key) + ": expected a number, found " +
                     found->dump().substr(0, 40));
  }
  return found->get<std::uint64_t>();
}

void require_number(const GgufMetadata& metadata, const char* key, std::uint64_t expected, const std::string& file) {
  if (const std::uint64_t found = number_of(metadata, key, file); found != expected) {
    throw InputError(file + ": " + key + ": expected " + std::to_string(expected) + ", found " + std::to_string(found));
  }
}

/// A later part says nothing else than the first one.
void check_part(const GgufMetadata& first, const GgufMetadata& part, const std::string& file) {
  for (const auto& [key, value] : part.values.items()) {
    const auto found = first.values.find(key);
    if (key != split_number && (found == first.values.end() || *found != value)) {
      throw InputError(file + ": metadata " + quoted_name(key) + ": expected what the first part says, found " +
                       value.dump().substr(0, 40));
    }
  }
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path) {
  add(path);
  const std::uint64_t count = number_of(metadata_, split_count, name());
  if (count <= 1) {
    return;
  }
  const std::vector<std::filesystem::path> parts = parts_of(path, count);
  require_number(metadata_, split_number, 0, name());
  for (std::size_t number = 1; number < parts.size(); ++number) {
    const GgufMetadata metadata = add(parts[number]);
    require_number(metadata, split_number, number, files_.back().name());
    require_number(metadata, split_count, count, files_.back().name());
    check_part(metadata_, metadata, files_.back().name());
  }
  if (metadata_.values.contains(split_tensors)) {
    require_number(metadata_, split_tensors, tensors_.size(), name());
  }
}

GgufMetadata GgufFile::add(const std::filesystem::path& path) {
  files_.emplace_back(path);
  GgufHeader header = read_gguf_header(files_.back());
  for (auto& [tensor, entry] : header.tensors) {
    if (!tensors_.emplace(tensor, Place{std::move(entry), files_.size() - 1}).second) {
      throw InputError(files_.back().name() + ": tensor " + quoted_name(tensor) +
                       ": expected each name in one part, found it in " + place_of(tensor) + " too");
    }
  }
  if (files_.size() == 1) {
    metadata_ = std::move(header.metadata);
    return {};
  }
  return std::move(header.metadata);
}

std::vector<std::string> GgufFile::files() const {
  std::vector<std::string> files;
  std::ranges::transform(files_, std::back_inserter(files), &InputFile::name);
  return files;
}

std::vector<std::string> GgufFile::names() const {
  std::vector<std::string> names;
  for (const auto& [tensor, entry] : tensors_) {
    names.push_back(tensor);
  }
  return names;
}

void GgufFile::read_rows(const std::string& tensor, Range rows, std::span<float> values) const {
  const TensorEntry& found = entry(tensor);
  const GgufType& type = gguf_type_of(found.dtype);
  const InputFile& file = files_[tensors_.at(tensor).file];
  const std::size_t row = found.count / found.extents.front();
  assert(values.size() == rows.size() * row);
  // a tensor of one dimension has rows of one value: they need not begin a block
  const std::size_t first = rows.first * row;
  assert(first % type.values == 0 && values.size() % type.values == 0);
  const std::size_t blocks_at_once = std::max<std::size_t>(1, piece_bytes / type.bytes);
  std::vector<std::uint8_t> bytes(std::min(blocks_at_once, values.size() / type.values) * type.bytes);
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t blocks = std::min(blocks_at_once, (values.size() - done) / type.values);
    const std::size_t count = blocks * type.values;
    const std::uint64_t offset = found.offset + (first + done) / type.values * type.bytes;
    if (!file.read(offset, std::span(bytes).first(blocks * type.bytes))) {
      throw InputError(file.name() + ": tensor " + tensor + ": cannot be read");
    }
    type.dequantize(bytes.data(), blocks, values.data() + done);
    check_finite(values.subspan(done, count), file.name() + ": tensor " + tensor, first + done);
    done += count;
  }
}

}  // namespace tessera
