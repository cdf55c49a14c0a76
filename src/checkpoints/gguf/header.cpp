#include "checkpoints/gguf/header.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/gguf/blocks.hpp"
#include "checkpoints/gguf/byte_reader.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr std::uint64_t gguf_header_limit = 256U << 20U;
constexpr std::uint64_t most_keys = 1U << 16U, most_tensors = 1U << 16U;
constexpr std::uint64_t most_entries = 1U << 22U;  // of a list: more than a vocabulary has merges
constexpr std::uint64_t most_blocks = 4096;        // of a list that says something of each
constexpr std::uint64_t key_limit = 65535, name_limit = 64;
constexpr std::uint32_t most_dimensions = 4;
constexpr std::uint64_t default_alignment = 32, most_alignment = 1U << 16U;

/// Types of metadata by their numbers.
enum Kind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, truth, text, list, u64, i64, f64, kinds };
constexpr std::string_view kind_names[kinds] = {"uint8",   "int8", "uint16", "int16",  "uint32", "int32",  "float32",
                                                "boolean", "text", "list",   "uint64", "int64",  "float64"};
constexpr std::uint64_t kind_bytes[kinds] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};  // at least

Kind read_kind(ByteReader& reader, const std::string& what) {
  const auto number = reader.number<std::uint32_t>(what);
  if (number >= kinds) {
    reader.refuse(what, "a type below " + std::to_string(kinds), std::to_string(number));
  }
  return static_cast<Kind>(number);
}

/// The decimal number of fewest digits that rounds to this float.
double shortest(float value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  double result = 0;
  std::from_chars(digits, end, result);
  return result;
}

/// Anything but a list.
json read_scalar(ByteReader& reader, Kind kind, const std::string& what) {
  switch (kind) {
    case u8:
      return reader.number<std::uint8_t>(what);
    case i8:
      return reader.number<std::int8_t>(what);
    case u16:
      return reader.number<std::uint16_t>(what);
    case i16:
      return reader.number<std::int16_t>(what);
    case u32:
      return reader.number<std::uint32_t>(what);
    case i32:
      return reader.number<std::int32_t>(what);
    case f32:
      return shortest(reader.number<float>(what));
    case u64:
      return reader.number<std::uint64_t>(what);
    case i64:
      return reader.number<std::int64_t>(what);
    case f64:
      return reader.number<double>(what);
    case text:
      return reader.text(what, gguf_header_limit);
    default:
      break;
  }
  const auto byte = reader.number<std::uint8_t>(what);
  if (byte > 1) {
    reader.refuse(what, "0 or 1", std::to_string(byte));
  }
  return byte == 1;
}

/// Signed integers that are not negative are unsigned to the library, which says so of literals only.
json unsigned_if_possible(json value) {
  if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() >= 0) {
    return value.get<std::uint64_t>();
  }
  return value;
}

bool belongs_to_tokenizer(const std::string& key) {
  return key == "tokenizer.ggml.tokens" || key == "tokenizer.ggml.merges" || key == "tokenizer.ggml.scores" ||
         key == "tokenizer.ggml.token_type";
}

void read_list(ByteReader& reader, const std::string& key, const std::string& what, GgufMetadata& metadata) {
  const Kind kind = read_kind(reader, what + ": type of entries");
  if (kind == list) {
    reader.refuse(what, "a list of numbers or texts", "a list of lists");
  }
  const std::uint64_t count = reader.count(what + ": number of entries", kind_bytes[kind], most_entries);
  metadata.values[key] = "a list of " + std::to_string(count) + " " + std::string(kind_names[kind]);
  if (kind == truth && count <= most_blocks) {
    metadata.values[key] = json::array();
    for (std::uint64_t i = 0; i < count; ++i) {
      metadata.values[key].push_back(read_scalar(reader, kind, what));
    }
    return;
  }
  const bool kept = belongs_to_tokenizer(key);
  if (kind != text && !kept) {
    reader.skip(count * kind_bytes[kind], what);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string place = kept ? what + "[" + std::to_string(i) + "]" : what;
    const json entry = read_scalar(reader, kind, place);
    if (kept && kind == text) {
      metadata.texts[key].push_back(entry.get_ref<const std::string&>());
    } else if (kept) {
      metadata.numbers[key].push_back(entry.is_boolean() ? (entry.get<bool>() ? 1 : 0) : entry.get<double>());
    }
  }
}

void read_metadata(ByteReader& reader, std::uint64_t count, GgufMetadata& metadata) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key = reader.text("key " + std::to_string(i), key_limit);
    const std::string what = "metadata " + quoted_name(key);
    if (metadata.values.contains(key)) {
      reader.refuse(what, "each key once", "it twice");
    }
    const Kind kind = read_kind(reader, what + ": type");
    if (kind == list) {
      read_list(reader, key, what, metadata);
    } else {
      metadata.values[key] = unsigned_if_possible(read_scalar(reader, kind, what));
    }
  }
}

/// The place of one tensor; its offset is still relative to the data.
TensorEntry read_tensor(ByteReader& reader, const std::string& what, std::uint64_t file_size) {
  const auto dimensions = reader.number<std::uint32_t>(what + ": number of dimensions");
  if (dimensions == 0 || dimensions > most_dimensions) {
    reader.refuse(what + ": number of dimensions", "1 to 4", std::to_string(dimensions));
  }
  const std::uint64_t most = 6 * file_size;  // no type has more values than that in so many bytes
  TensorEntry entry;
  entry.count = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto extent = reader.number<std::uint64_t>(what + ": dimensions");
    if (extent == 0 || entry.count > most / extent) {
      reader.refuse(what + ": dimensions", "positive ones that fit the file", std::to_string(extent));
    }
    entry.extents.insert(entry.extents.begin(), extent);
    entry.count *= extent;
  }
  const auto number = reader.number<std::uint32_t>(what + ": type");
  const GgufType* const type = find_gguf_type(number);
  if (type == nullptr) {
    reader.refuse(what + ": type", gguf_type_names(), gguf_type_name(number));
  }
  if (entry.extents.back() % type->values != 0) {
    reader.refuse(what + ": dimensions", "rows of whole blocks of " + std::to_string(type->values) + " values",
                  std::to_string(entry.extents.back()));
  }
  entry.dtype = type->name;
  entry.length = entry.count / type->values * type->bytes;
  entry.offset = reader.number<std::uint64_t>(what + ": offset");
  return entry;
}

std::uint64_t padded(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t read_alignment(ByteReader& reader, const GgufMetadata& metadata) {
  constexpr const char* key = "general.alignment";
  if (!metadata.values.contains(key)) {
    return default_alignment;
  }
  const json& value = metadata.values[key];
  const bool good = value.is_number_unsigned() && std::has_single_bit(value.get<std::uint64_t>());
  if (!good || value.get<std::uint64_t>() > most_alignment) {
    reader.refuse(key, "a power of two up to " + std::to_string(most_alignment), value.dump().substr(0, 40));
  }
  return value.get<std::uint64_t>();
}

void check_beginning(ByteReader& reader) {
  constexpr std::uint32_t magic = 0x46554747;  // GGUF
  if (const auto found = reader.number<std::uint32_t>("magic number"); found != magic) {
    std::string bytes(4, '\0');
    for (unsigned i = 0; i < 4; ++i) {
      bytes[i] = static_cast<char>(found >> (8 * i));
    }
    reader.refuse("magic number", "\"GGUF\"", quoted_name(bytes));
  }
  const auto version = reader.number<std::uint32_t>("version");
  if (version != 2 && version != 3) {
    const bool big = version == 0x02000000 || version == 0x03000000;
    reader.refuse("version", "2 or 3", big ? "a big-endian file" : std::to_string(version));
  }
}

/// Makes the offsets absolute.
void check_layout(const InputFile& file, std::uint64_t data_begin, std::uint64_t alignment,
                  std::map<std::string, TensorEntry>& tensors) {
  std::multimap<std::uint64_t, std::string> order;
  for (const auto& [tensor, entry] : tensors) {
    order.emplace(entry.offset, tensor);
  }
  std::uint64_t next = 0, end = data_begin;
  for (const auto& [offset, tensor] : order) {
    TensorEntry& entry = tensors.at(tensor);
    const std::string what = file.name() + ": tensor " + quoted_name(tensor) + ": offset: expected ";
    if (offset % alignment != 0) {
      throw InputError(what + "a multiple of the alignment " + std::to_string(alignment) + ", found " +
                       std::to_string(offset));
    }
    if (offset != next) {
      throw InputError(what + std::to_string(next) + ", found " + std::to_string(offset) +
                       (offset < next ? " (overlaps the one before it)" : " (leaves a gap)"));
    }
    entry.offset = data_begin + offset;
    end = entry.offset + entry.length;
    if (entry.length > file.size() || end > file.size()) {
      throw InputError(file.name() + ": tensor " + quoted_name(tensor) + ": expected " + std::to_string(entry.length) +
                       " bytes at " + std::to_string(entry.offset) + ", found the end of the file at " +
                       std::to_string(file.size()));
    }
    next = padded(end - data_begin, alignment);
  }
  if (!order.empty() && file.size() > padded(end, alignment)) {
    throw InputError(file.name() + ": expected the file to end at " + std::to_string(padded(end, alignment)) +
                     ", found " + std::to_string(file.size()));
  }
}

}  // namespace

GgufHeader read_gguf_header(const InputFile& file) {
  ByteReader reader(file, gguf_header_limit);
  check_beginning(reader);
  GgufHeader header;
  const std::uint64_t tensors = reader.count("number of tensors", 24, most_tensors);
  const std::uint64_t keys = reader.count("number of metadata keys", 13, most_keys);
  read_metadata(reader, keys, header.metadata);
  const std::uint64_t alignment = read_alignment(reader, header.metadata);
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const std::string tensor = reader.text("name of tensor " + std::to_string(i), name_limit);
    const std::string what = "tensor " + quoted_name(tensor);
    if (!header.tensors.emplace(tensor, read_tensor(reader, what, file.size())).second) {
      reader.refuse(what, "each name once", "it twice");
    }
  }
  check_layout(file, padded(reader.position(), alignment), alignment, header.tensors);
  return header;
}

}  // namespace tessera
