#pragma once

#include <optional>
#include <vector>

#include "datasets/dataset_file.hpp"
#include "datasets/hdf5_image.hpp"

namespace tessera::hdf5 {

/// A message of an object header.
struct Message {
  enum Type : std::uint8_t {
    nil = 0,
    dataspace = 1,
    link_info = 2,
    datatype = 3,
    fill_value = 5,
    link = 6,
    layout = 8,
    group_info = 10,
    attribute = 12,
    continuation = 16,
    attribute_info = 21
  };
  std::uint8_t type = nil;
  Bytes data;
};

/// The header of a group or dataset, as messages; there are only those of the types above.
class ObjectHeader {
 public:
  ObjectHeader(const Image& image, std::uint64_t address);
  /// The only message of this type; nothing if there is none. Throws Rewritten if there are more.
  [[nodiscard]] std::optional<Bytes> find(Message::Type type) const;
  /// The value of an attribute of this type and these extents; nothing if there is none such.
  [[nodiscard]] std::optional<Bytes> attribute(std::string_view name, const ElementType& type,
                                               const Extents& extents) const;
  /// The value of an attribute that is one string of up to `most` bytes.
  [[nodiscard]] std::optional<std::string> text_attribute(std::string_view name, std::size_t most) const;

 private:
  struct Attribute {
    std::string name;
    ElementType type;
    Extents extents;
    Bytes value;
  };
  void add_messages(const Image& image, Fields fields, bool ordered);
  void add_attribute(Bytes data);
  std::vector<Message> messages_;
  std::vector<Attribute> attributes_;
  std::size_t chunks_ = 0;
};

/// Our name of a datatype message's type; an empty one if it is none of ours.
ElementType element_type(Bytes datatype);
/// Extents of a dataspace message; throws Damaged for those that may grow and for null spaces.
Extents extents_of(Bytes dataspace);

/// Where a layout message puts the values, which must be one piece of the file.
struct Place {
  std::optional<std::uint64_t> offset;
  std::uint64_t bytes = 0;
};
Place place_of(Bytes layout);

}  // namespace tessera::hdf5
