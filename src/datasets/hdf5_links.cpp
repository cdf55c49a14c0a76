#include "datasets/hdf5_links.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace tessera::hdf5 {
namespace {

constexpr unsigned max_tree_depth = 4;

/// Bytes that a number up to `most` takes.
std::size_t width_of(std::uint64_t most) {
  return (std::max(static_cast<unsigned>(std::bit_width(most)), 1U) - 1) / 8 + 1;
}

/// Objects that are pieces of one address space, cut into direct blocks: rows of a table, all blocks of a row equally
/// long, those of the second row as long as those of the first, those of each further row twice as long.
class FractalHeap {
 public:
  FractalHeap(const Image& image, std::uint64_t address);
  /// The managed object of a heap id.
  [[nodiscard]] Bytes object(Bytes id);

 private:
  struct Block {
    std::uint64_t begin = 0;  // in the heap's address space
    std::uint64_t size = 0;
    std::uint64_t address = undefined_address;
  };
  [[nodiscard]] std::uint64_t block_size(std::uint64_t row) const { return start_size_ << (row < 2 ? 0 : row - 1); }
  [[nodiscard]] std::uint64_t header_size() const { return 4 + 1 + 8 + offset_width_; }
  /// Reads and checks a block's header: signature, version, heap header address and block offset.
  void check_header(Fields& fields, std::string_view signature, std::uint64_t begin) const;
  void add_rows(std::uint64_t address, std::uint64_t rows);
  /// A direct block whose checksum, which counts as 0 in itself, is checked once.
  [[nodiscard]] Bytes read(const Block& block);

  const Image& image_;
  std::uint64_t address_;
  std::uint64_t start_size_ = 0;
  std::uint64_t max_size_ = 0;
  std::uint64_t table_width_ = 0;
  std::size_t offset_width_ = 0;
  std::size_t length_width_ = 0;
  bool checksums_ = false;
  std::vector<Block> blocks_;
  std::map<std::uint64_t, Bytes> checked_;
};

FractalHeap::FractalHeap(const Image& image, std::uint64_t address) : image_(image), address_(address) {
  constexpr std::uint64_t size = 146;
  Fields fields(image.checked(address, size));
  fields.signature("FRHP");
  fields.expect(0, "fractal heap version");
  fields.skip(2);  // length of heap ids
  if (fields.number<std::uint16_t>() != 0) {
    throw Damaged("links without filters", "filtered ones");
  }
  checksums_ = (fields.number<std::uint8_t>() & 2U) != 0;
  const std::uint64_t max_object = fields.number<std::uint32_t>();
  fields.skip(12 * 8);  // huge and tiny objects, free space, counts
  table_width_ = fields.number<std::uint16_t>();
  start_size_ = fields.number<std::uint64_t>();
  max_size_ = fields.number<std::uint64_t>();
  const unsigned address_bits = fields.number<std::uint16_t>();
  fields.skip(2);  // rows at first
  const std::uint64_t root = fields.address();
  const std::uint64_t rows = fields.number<std::uint16_t>();
  const bool sizes = std::has_single_bit(start_size_) && std::has_single_bit(max_size_) && start_size_ <= max_size_ &&
                     max_size_ <= std::uint64_t{1} << 32U;
  if (!sizes || table_width_ == 0 || table_width_ > 1024 || address_bits == 0 || address_bits > 64) {
    throw Damaged("a heap of links with blocks of powers of two", "another");
  }
  offset_width_ = (address_bits + 7) / 8;
  length_width_ = std::min(width_of(max_size_), width_of(max_object));
  if (root == undefined_address) {
    return;
  }
  if (rows == 0) {
    blocks_.push_back({0, start_size_, root});
  } else {
    add_rows(root, rows);
  }
}

void FractalHeap::check_header(Fields& fields, std::string_view signature, std::uint64_t begin) const {
  fields.signature(signature);
  fields.expect(0, "block version");
  if (fields.address() != address_ || fields.number_of(offset_width_) != begin) {
    throw Damaged("a block of this heap", "one of another place");
  }
}

void FractalHeap::add_rows(std::uint64_t address, std::uint64_t rows) {
  const std::uint64_t direct_rows =
      static_cast<std::uint64_t>(std::countr_zero(max_size_) - std::countr_zero(start_size_)) + 2;
  if (rows > direct_rows) {
    throw Damaged("a heap of links of one level", "one of more");
  }
  Fields fields(image_.checked(address, header_size() + rows * table_width_ * 8 + 4));
  check_header(fields, "FHIB", 0);
  std::uint64_t begin = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t column = 0; column < table_width_; ++column) {
      blocks_.push_back({begin, block_size(row), fields.address()});
      begin += block_size(row);
    }
  }
}

Bytes FractalHeap::read(const Block& block) {
  const auto [found, is_new] = checked_.try_emplace(block.begin);
  if (!is_new) {
    return found->second;
  }
  const Bytes bytes = image_.at(block.address, block.size);
  Fields fields(bytes);
  check_header(fields, "FHDB", block.begin);
  if (checksums_) {
    const auto checksum = fields.number<std::uint32_t>();
    std::vector<std::uint8_t> cleared(bytes.begin(), bytes.end());
    std::fill_n(cleared.begin() + static_cast<std::ptrdiff_t>(header_size()), sizeof checksum, std::uint8_t{0});
    if (lookup3(cleared) != checksum) {
      throw Damaged("structures with right checksums", "a wrong one (the file is damaged)");
    }
  }
  return found->second = bytes;
}

Bytes FractalHeap::object(Bytes id) {
  Fields fields(id);
  fields.expect(0, "a link's kind of heap object");  // managed, version 0
  const std::uint64_t offset = fields.number_of(offset_width_);
  const std::uint64_t length = fields.number_of(length_width_);
  const auto after = std::ranges::upper_bound(blocks_, offset, {}, &Block::begin);
  if (after == blocks_.begin()) {
    throw Damaged("a link inside its heap", "one outside");
  }
  const Block& block = after[-1];
  const std::uint64_t within = offset - block.begin;
  if (block.address == undefined_address || within > block.size || length > block.size - within) {
    throw Damaged("a link inside its heap", "one outside");
  }
  return read(block).subspan(static_cast<std::size_t>(within), static_cast<std::size_t>(length));
}

/// A B-tree of version 2 over names of links: records of a name's hash and its link's heap id, in the order of hashes.
class NameIndex {
 public:
  static constexpr std::size_t id_size = 7;
  struct Record {
    std::uint32_t hash = 0;
    Bytes id;
  };
  NameIndex(const Image& image, std::uint64_t address, std::size_t most);
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  static constexpr std::uint8_t type = 5;
  static constexpr std::uint64_t record_size = 4 + id_size;
  static constexpr std::uint64_t overhead = 4 + 1 + 1 + 4;  // signature, version, type and checksum of a node
  struct Level {
    std::uint64_t most = 0;        // records of a node
    std::uint64_t most_below = 0;  // and of all nodes below it and itself
    std::uint64_t pointer_size = 0;
  };
  [[nodiscard]] static std::vector<Level> levels(std::uint64_t node_size, unsigned depth);
  void add_node(std::uint64_t address, std::uint64_t count, unsigned level);
  void add_record(Fields& fields);

  const Image& image_;
  std::size_t most_;
  std::vector<Level> levels_;
  std::vector<Record> records_;
};

NameIndex::NameIndex(const Image& image, std::uint64_t address, std::size_t most) : image_(image), most_(most) {
  constexpr std::uint64_t size = 38;
  Fields fields(image.checked(address, size));
  fields.signature("BTHD");
  fields.expect(0, "B-tree version");
  fields.expect(type, "B-tree type");
  const std::uint64_t node_size = fields.number<std::uint32_t>();
  const auto found_record_size = fields.number<std::uint16_t>();
  const unsigned depth = fields.number<std::uint16_t>();
  fields.skip(2);  // when nodes are split and merged
  const std::uint64_t root = fields.address();
  const std::uint64_t count = fields.number<std::uint16_t>();
  const auto total = fields.number<std::uint64_t>();
  if (found_record_size != record_size || depth > max_tree_depth || node_size < 64 || node_size > 1U << 20U) {
    throw Damaged("a B-tree of names of links", "another");
  }
  levels_ = levels(node_size, depth);
  if (count > 0) {
    add_node(root, count, depth);
  }
  if (records_.size() != total) {
    throw Damaged(std::to_string(total) + " links", std::to_string(records_.size()));
  }
}

std::vector<NameIndex::Level> NameIndex::levels(std::uint64_t node_size, unsigned depth) {
  const std::uint64_t leaf = (node_size - overhead) / record_size;
  std::vector<Level> levels{{leaf, leaf, 0}};
  for (unsigned i = 1; i <= depth; ++i) {
    const Level& below = levels.back();
    const std::uint64_t pointer = 8 + width_of(leaf) + (i > 1 ? width_of(below.most_below) : 0);
    const std::uint64_t most = (node_size - overhead - pointer) / (record_size + pointer);
    levels.push_back({most, (most + 1) * below.most_below + most, pointer});
  }
  return levels;
}

void NameIndex::add_record(Fields& fields) {
  if (records_.size() >= most_) {
    throw Damaged("a readable group of at most " + std::to_string(most_) + " objects", "more");
  }
  const auto hash = fields.number<std::uint32_t>();
  records_.push_back({hash, fields.take(id_size)});
}

void NameIndex::add_node(std::uint64_t address, std::uint64_t count, unsigned level) {
  const Level& shape = levels_[level];
  if (count > shape.most) {
    throw Damaged("at most " + std::to_string(shape.most) + " links in a node", std::to_string(count));
  }
  const std::uint64_t pointers = level == 0 ? 0 : (count + 1) * shape.pointer_size;
  Fields fields(image_.checked(address, overhead + count * record_size + pointers));
  fields.signature(level == 0 ? "BTLF" : "BTIN");
  fields.expect(0, "B-tree node version");
  fields.expect(type, "B-tree node type");
  Fields children = fields;
  if (level > 0) {
    children.skip(count * record_size);
  }
  for (std::uint64_t i = 0; i <= count; ++i) {
    if (level > 0) {
      const std::uint64_t child = children.address();
      const std::uint64_t child_count = children.number_of(width_of(levels_[0].most));
      children.skip(level > 1 ? width_of(levels_[level - 1].most_below) : 0);
      add_node(child, child_count, level - 1);
    }
    if (i < count) {
      add_record(fields);
    }
  }
}

Link parse_link(Bytes message) {
  enum Flag : std::uint8_t { size_bits = 3, creation_order = 4, link_type = 8, character_set = 16 };
  Fields fields(message);
  fields.expect(1, "link version");
  const auto flags = fields.number<std::uint8_t>();
  const auto kind = (flags & link_type) != 0 ? fields.number<std::uint8_t>() : std::uint8_t{0};
  fields.skip(((flags & creation_order) != 0 ? 8U : 0U) + ((flags & character_set) != 0 ? 1U : 0U));
  const Bytes name = fields.take(fields.number_of(std::size_t{1} << (flags & size_bits)));
  if (kind != 0) {
    throw Damaged("a hard link", kind == 1 ? "a soft link" : kind == 64 ? "an external link" : "another kind of link");
  }
  return {{name.begin(), name.end()}, fields.address()};
}

}  // namespace

std::vector<Link> read_links(const Image& image, Bytes link_info, std::size_t most) {
  enum Flag : std::uint8_t { creation_order = 1 };
  Fields fields(link_info);
  fields.expect(0, "link info version");
  fields.skip((fields.number<std::uint8_t>() & creation_order) != 0 ? 8 : 0);
  const std::uint64_t heap_address = fields.address();
  const std::uint64_t index_address = fields.address();
  if (heap_address == undefined_address || index_address == undefined_address) {
    return {};
  }
  const NameIndex index(image, index_address, most);
  FractalHeap heap(image, heap_address);
  std::vector<Link> links;
  std::uint32_t before = 0;
  for (const NameIndex::Record& record : index.records()) {
    Link link = parse_link(heap.object(record.id));
    const Bytes name{reinterpret_cast<const std::uint8_t*>(link.name.data()), link.name.size()};
    if (link.name.empty() || link.name.find('\0') != std::string::npos || lookup3(name) != record.hash ||
        record.hash < before) {
      throw Damaged("names of links in the order of their hashes", "others");
    }
    before = record.hash;
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace tessera::hdf5
