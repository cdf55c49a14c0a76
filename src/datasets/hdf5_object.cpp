#include "datasets/hdf5_object.hpp"

#include <algorithm>
#include <array>

namespace tessera::hdf5 {
namespace {

constexpr std::size_t max_chunks = 64;
constexpr std::size_t max_rank = 4;
constexpr std::size_t chunk_overhead = 8;  // signature and checksum of a continuation

enum HeaderFlag : std::uint8_t { size_bits = 3, creation_order = 4, phase_change = 16, times = 32 };
enum MessageFlag : std::uint8_t { shared = 2 };
enum DatatypeClass : std::uint8_t { fixed_point = 0, floating_point = 1, text = 3 };

ElementType integer_type(Bytes bits, std::uint64_t size, Fields& properties) {
  const bool is_signed = (bits[0] & 8U) != 0;
  const bool plain = (bits[0] & ~8U) == 0 && bits[1] == 0 && bits[2] == 0;
  const bool whole = properties.number<std::uint16_t>() == 0 && properties.number<std::uint16_t>() == 8 * size;
  const bool ours = size == 1 ? !is_signed : size == 2 || size == 4 || size == 8;
  if (!plain || !whole || !ours) {
    return {};
  }
  return {(is_signed ? "int" : "uint") + std::to_string(8 * size), size};
}

/// IEEE, little endian, in the format's terms: bit field, then offset, precision, exponent's and mantissa's place,
/// bias.
ElementType float_type(Bytes bits, std::uint64_t size, Fields& properties) {
  using Description = std::array<std::uint8_t, 15>;
  constexpr Description single{0x20, 31, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0};
  constexpr Description twice{0x20, 63, 0, 0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0};
  Description found{};
  std::ranges::copy(properties.take(found.size() - 3), std::ranges::copy(bits, found.begin()).out);
  if ((size == 4 && found == single) || (size == 8 && found == twice)) {
    return {"float" + std::to_string(8 * size), size};
  }
  return {};
}

}  // namespace

ElementType element_type(Bytes datatype) {
  Fields fields(datatype);
  const auto head = fields.number<std::uint8_t>();
  const Bytes bits = fields.take(3);
  const std::uint64_t size = fields.number<std::uint32_t>();
  if (head >> 4U < 1 || head >> 4U > 3) {
    return {};
  }
  switch (head & 15U) {
    case fixed_point:
      return integer_type(bits, size, fields);
    case floating_point:
      return float_type(bits, size, fields);
    case text: {
      constexpr std::uint8_t utf8_null_padded = 0x11;
      return bits[0] == utf8_null_padded && size > 0 ? ElementType{"string", size} : ElementType{};
    }
    default:
      return {};
  }
}

Extents extents_of(Bytes dataspace) {
  enum Kind : std::uint8_t { scalar = 0, simple = 1 };
  Fields fields(dataspace);
  fields.expect(2, "dataspace version");
  const std::size_t rank = fields.number<std::uint8_t>();
  const bool has_limits = (fields.number<std::uint8_t>() & 1U) != 0;
  const auto kind = fields.number<std::uint8_t>();
  if (rank > max_rank || !(kind == simple || (kind == scalar && rank == 0))) {
    throw Rewritten("at most " + std::to_string(max_rank) + " dimensions", "another extent");
  }
  Extents extents(rank);
  std::ranges::generate(extents, [&] { return fields.number<std::uint64_t>(); });
  for (std::size_t i = 0; has_limits && i < rank; ++i) {
    if (fields.number<std::uint64_t>() != extents[i]) {
      throw Rewritten("a dataset of one size", "one that may grow");
    }
  }
  return extents;
}

Place place_of(Bytes layout) {
  constexpr std::uint8_t contiguous = 1;
  Fields fields(layout);
  const auto version = fields.number<std::uint8_t>();
  if ((version != 3 && version != 4) || fields.number<std::uint8_t>() != contiguous) {
    throw Rewritten("contiguous storage", "another layout (virtual, chunked, compact or filtered)");
  }
  const std::uint64_t offset = fields.address();
  return {offset == undefined_address ? std::nullopt : std::optional(offset), fields.number<std::uint64_t>()};
}

ObjectHeader::ObjectHeader(const Image& image, std::uint64_t address) {
  constexpr std::uint64_t longest_prefix = 4 + 2 + 16 + 4 + 8;
  Fields head(image.at(address, 6));
  head.signature("OHDR");
  head.expect(2, "object header version");
  const auto flags = head.number<std::uint8_t>();
  const std::uint64_t skipped = ((flags & times) != 0 ? 16U : 0U) + ((flags & phase_change) != 0 ? 4U : 0U);
  const std::size_t size_width = std::size_t{1} << (flags & size_bits);
  const std::uint64_t prefix = 6 + skipped + size_width;
  static_assert(longest_prefix >= 6 + 20 + 8);
  Fields sizes(image.at(address, prefix));
  sizes.skip(6 + skipped);
  const std::uint64_t size = sizes.number_of(size_width);
  if (size > undefined_address - longest_prefix - 4) {
    throw Damaged("an object header inside the file", "a longer one");
  }
  Fields fields(image.checked(address, prefix + size + 4));
  fields.skip(prefix);
  add_messages(image, fields, (flags & creation_order) != 0);
}

void ObjectHeader::add_messages(const Image& image, Fields fields, bool ordered) {
  if (++chunks_ > max_chunks) {
    throw Damaged("at most " + std::to_string(max_chunks) + " pieces of an object header", "more");
  }
  const std::size_t head = ordered ? 6 : 4;
  while (fields.left() >= head) {  // less is a gap
    Message message{fields.number<std::uint8_t>(), {}};
    const std::uint64_t size = fields.number<std::uint16_t>();
    const auto flags = fields.number<std::uint8_t>();
    fields.skip(head - 4);
    message.data = fields.take(size);
    if ((flags & shared) != 0) {
      throw Rewritten("messages of an object's own", "a shared one");
    }
    switch (message.type) {
      case Message::nil:
        break;
      case Message::continuation: {
        Fields to(message.data);
        const std::uint64_t address = to.address();
        const auto length = to.number<std::uint64_t>();
        if (length < chunk_overhead) {
          throw Damaged("a continuation", "a shorter one");
        }
        Fields next(image.checked(address, length));
        next.signature("OCHK");
        add_messages(image, next, ordered);
        break;
      }
      case Message::attribute:
        add_attribute(message.data);
        break;
      case Message::dataspace:
      case Message::link_info:
      case Message::datatype:
      case Message::fill_value:
      case Message::link:
      case Message::layout:
      case Message::group_info:
      case Message::attribute_info:
        messages_.push_back(message);
        break;
      default:
        throw Rewritten("a plain group or dataset", "an object header message of type " + std::to_string(message.type));
    }
  }
}

void ObjectHeader::add_attribute(Bytes data) {
  Fields fields(data);
  fields.expect(3, "attribute version");
  fields.expect(0, "attribute flags");
  const std::uint64_t name_size = fields.number<std::uint16_t>();
  const std::uint64_t type_size = fields.number<std::uint16_t>();
  const std::uint64_t space_size = fields.number<std::uint16_t>();
  fields.skip(1);  // character set of the name
  const Bytes name = fields.take(name_size);
  Attribute attribute{{name.begin(), std::ranges::find(name, std::uint8_t{0})},
                      element_type(fields.take(type_size)),
                      extents_of(fields.take(space_size)),
                      {}};
  if (attribute.type.name.empty()) {
    return;  // somebody's own
  }
  std::uint64_t bytes = attribute.type.width;
  for (const std::uint64_t extent : attribute.extents) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw Damaged("an attribute inside its message", "a longer one");
    }
  }
  attribute.value = fields.take(bytes);
  attributes_.push_back(std::move(attribute));
}

std::optional<Bytes> ObjectHeader::find(Message::Type type) const {
  std::optional<Bytes> found;
  for (const Message& message : messages_) {
    if (message.type == type) {
      if (found) {
        throw Rewritten("one object header message of type " + std::to_string(type), "several");
      }
      found = message.data;
    }
  }
  return found;
}

std::optional<Bytes> ObjectHeader::attribute(std::string_view name, const ElementType& type,
                                             const Extents& extents) const {
  const auto found = std::ranges::find(attributes_, name, &Attribute::name);
  return found != attributes_.end() && found->type == type && found->extents == extents ? std::optional(found->value)
                                                                                        : std::nullopt;
}

std::optional<std::string> ObjectHeader::text_attribute(std::string_view name, std::size_t most) const {
  const auto found = std::ranges::find(attributes_, name, &Attribute::name);
  if (found == attributes_.end() || found->type.name != "string" || !found->extents.empty() ||
      found->value.size() > most) {
    return std::nullopt;
  }
  return std::string(found->value.begin(), found->value.end());
}

}  // namespace tessera::hdf5
