#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <utility>
#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "checkpoints/safetensors.hpp"

#include "checkpoints/half.hpp"
#include "checkpoints/json_file.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t safetensors_header_limit = 100'000'000;  // the format's own limit
constexpr std::size_t read_at_once = 1U << 20U;                  // read at a time

/// Bytes of one element, 0 for an unknown dtype.
std::uint64_t width_of(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> widths = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"I16", 2}, {"U16", 2}, {"F16", 2}, {"BF16", 2},
      {"I32", 4},  {"U32", 4}, {"F32", 4}, {"I64", 8}, {"U64", 8}, {"F64", 8}};
  const auto found = widths.find(dtype);
  return found == widths.end() ? 0 : found->second;
}

std::uint64_t non_negative(const nlohmann::json& value, const std::string& what) {
  if (!value.is_number_unsigned()) {
    throw InputError(what + ": expected a non-negative integer, found " + value.dump().substr(0, 40));
  }
  return value.get<std::uint64_t>();
}

/// One header entry against the number of data bytes; offsets are still relative to the data.
TensorEntry parse_entry(const nlohmann::json& header, const std::string& what, std::uint64_t data_length) {
  if (!header.is_object() || header.size() != 3 || !header.contains("dtype") || !header.contains("shape") ||
      !header.contains("data_offsets")) {
    throw InputError(what + ": expected exactly the fields dtype, shape, data_offsets");
  }
  const auto& offsets = header["data_offsets"];
  if (!header["dtype"].is_string() || !header["shape"].is_array() || !offsets.is_array() || offsets.size() != 2) {
    throw InputError(what + ": expected a string dtype, a list shape and two data_offsets");
  }
  TensorEntry entry;
  entry.dtype = header["dtype"].get<std::string>();
  const std::uint64_t width = width_of(entry.dtype);
  if (width == 0) {
    throw InputError(what + ".dtype: expected F32, F16 or BF16, found " + quoted_name(entry.dtype));
  }
  const std::uint64_t begin = non_negative(offsets[0], what + ".data_offsets");
  const std::uint64_t end = non_negative(offsets[1], what + ".data_offsets");
  if (begin > end || end > data_length) {
    throw InputError(what + ".data_offsets: expected a range inside the file's " + std::to_string(data_length) +
                     " bytes of data, found [" + std::to_string(begin) + ", " + std::to_string(end) + "]");
  }
  entry.offset = begin;
  entry.length = end - begin;
  entry.count = 1;
  for (const auto& value : header["shape"]) {
    const std::uint64_t extent = non_negative(value, what + ".shape");
    if (extent == 0 || extent > data_length || entry.count > data_length / extent) {
      throw InputError(what + ".shape: expected positive extents that fit the file, found " +
                       header["shape"].dump().substr(0, 80));
    }
    entry.extents.push_back(extent);
    entry.count *= extent;
  }
  if (entry.count * width != entry.length) {
    throw InputError(what + ": expected " + std::to_string(entry.count * width) + " bytes for dtype and shape, found " +
                     std::to_string(entry.length));
  }
  return entry;
}

/// The data is one run of tensors: no two overlap, no byte is left over.
void check_tiling(const std::map<std::string, TensorEntry>& tensors, const std::string& file,
                  std::uint64_t data_length) {
  std::multimap<std::uint64_t, std::string> order;
  for (const auto& [name, entry] : tensors) {
    order.emplace(entry.offset, name);
  }
  std::uint64_t next = 0;
  for (const auto& [offset, name] : order) {
    if (offset != next) {
      throw InputError(file + ": tensor " + quoted_name(name) +
                       (offset < next ? " overlaps the one before it" : " leaves a gap") + ": expected data offset " +
                       std::to_string(next) + ", found " + std::to_string(offset));
    }
    next = offset + tensors.at(name).length;
  }
  if (next != data_length) {
    throw InputError(file + ": expected the file to end after " + std::to_string(next) + " bytes of data, found " +
                     std::to_string(data_length));
  }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  const std::uint64_t size = file_.size();
  std::array<std::uint8_t, 8> prefix{};
  if (size < prefix.size()) {
    throw InputError(name() + ": expected at least 8 bytes, found " + std::to_string(size));
  }
  if (!file_.read(0, prefix)) {
    throw InputError(name() + ": cannot be read");
  }
  const auto header_length = read_little_endian<std::uint64_t>(prefix.data());
  if (header_length > safetensors_header_limit || header_length > size - prefix.size()) {
    throw InputError(name() + ": header length: expected at most " +
                     std::to_string(std::min(safetensors_header_limit, size - prefix.size())) + ", found " +
                     std::to_string(header_length));
  }
  std::string header(header_length, '\0');
  if (!file_.read(prefix.size(), {reinterpret_cast<std::uint8_t*>(header.data()), header.size()})) {
    throw InputError(name() + ": header cannot be read");
  }
  const std::uint64_t data_begin = prefix.size() + header_length;
  const nlohmann::json root = parse_json_object(header, name() + ": header");
  for (const auto& [key, value] : root.items()) {
    if (key != "__metadata__") {
      tensors_.emplace(key, parse_entry(value, name() + ": tensor " + quoted_name(key), size - data_begin));
    }
  }
  check_tiling(tensors_, name(), size - data_begin);
  for (auto& [key, entry] : tensors_) {
    entry.offset += data_begin;
  }
}

std::vector<float> SafetensorsFile::read(const std::string& tensor) const {
  std::vector<float> values(tensors_.at(tensor).count);
  read(tensor, 0, values);
  return values;
}

void SafetensorsFile::read(const std::string& tensor, std::size_t first, std::span<float> values) const {
  const TensorEntry& entry = tensors_.at(tensor);
  assert(first <= entry.count && values.size() <= entry.count - first);
  const bool single = entry.dtype == "F32";
  const bool half = entry.dtype == "F16";
  if (!single && !half && entry.dtype != "BF16") {
    throw InputError(name() + ": tensor " + tensor + ".dtype: expected F32, F16 or BF16, found " + entry.dtype);
  }
  const std::size_t width = single ? sizeof(float) : sizeof(std::uint16_t);
  std::vector<std::uint8_t> bytes(std::min(read_at_once, values.size() * width));
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t count = std::min(read_at_once / width, values.size() - done);
    if (!file_.read(entry.offset + (first + done) * width, std::span(bytes).first(count * width))) {
      throw InputError(name() + ": tensor " + tensor + ": cannot be read");
    }
    for (std::size_t i = 0; i < count; ++i) {
      float& value = values[done + i];
      if (single) {
        value = std::bit_cast<float>(read_little_endian<std::uint32_t>(bytes.data() + i * width));
      } else {
        const auto bits = read_little_endian<std::uint16_t>(bytes.data() + i * width);
        value = half ? from_half(bits) : from_brain(bits);
      }
    }
    check_finite(values.subspan(done, count), name() + ": tensor " + tensor, first + done);
    done += count;
  }
}

}  // namespace tessera
