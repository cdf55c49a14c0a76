#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include "lookup/fraction_tree.hpp"
#include <tuple>

namespace tessera {
namespace {

using ClassKey = std::tuple<LeafKind, bool, unsigned>;

/// Which segments' a and b have to be copied: their places in the buffers.
struct Copies {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> a, b;  // by segment
  std::size_t a_count = 0, b_count = 0;

  Copies(const SegmentClass& segments, bool pairs) {
    for (const LeafIntegers& leaves : segments.leaves) {
      a.push_back(leaves.has_a() ? none : a_count++);
      b.push_back(leaves.has_b() || !pairs ? none : b_count++);
    }
  }
};

/// Where a segment's integers lie, if they do side by side.
LeafIntegers leaves_in_place(const LookupInput& input, const Segment& segment, unsigned log_leaves) {
  const LookupColumnData& column = input.columns[segment.source];
  if (!column.in_place) {
    return {};
  }
  const std::size_t size = input.structure.columns[segment.source].shape.chunk_size();
  LeafIntegers leaves = column.in_place(segment.part);
  const auto keep = [](auto& first, const auto* other, std::size_t places) {
    if (first != nullptr && other != first + places) {
      first = nullptr;
    }
  };
  for (std::size_t i = 1; i * size < std::size_t{1} << log_leaves; ++i) {
    const LeafIntegers other = column.in_place(segment.part + i);
    keep(leaves.narrow, other.narrow, i * size);
    keep(leaves.wide, other.wide, i * size);
    keep(leaves.narrow_b, other.narrow_b, i * size);
    keep(leaves.wide_b, other.wide_b, i * size);
  }
  return leaves;
}

/// Finds or copies the integers of a class; false if `narrow` ones were expected and there are others (of a lying
/// prover).
bool read_columns(SegmentClass& segments, const LookupInput& input, bool narrow) {
  const std::size_t size = std::size_t{1} << segments.log_leaves;
  const bool pairs = segments.kind == LeafKind::pairs;
  segments.leaves.clear();
  for (const Segment& segment : segments.segments) {
    segments.leaves.push_back(leaves_in_place(input, segment, segments.log_leaves));
  }
  const Copies copies(segments, pairs);
  segments.narrow = BlockBuffer<std::uint16_t>(narrow ? copies.a_count * size : 0);
  segments.wide = BlockBuffer<std::uint32_t>(narrow ? 0 : copies.a_count * size);
  segments.b = BlockBuffer<std::int32_t>(copies.b_count * size);
  std::uint32_t all = 0;
#pragma omp parallel reduction(| : all)
  {
    std::vector<std::uint32_t> a_values(size);
    std::vector<std::int32_t> b_values(pairs ? size : 0);
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < segments.segments.size(); ++i) {
      const bool copy_a = copies.a[i] != Copies::none;
      const bool copy_b = copies.b[i] != Copies::none;
      if (!copy_a && !copy_b) {
        continue;
      }
      LeafIntegers& leaves = segments.leaves[i];
      std::uint32_t* const wide = copy_a && !narrow ? segments.wide.data() + copies.a[i] * size : nullptr;
      std::int32_t* const b = copy_b ? segments.b.data() + copies.b[i] * size : nullptr;
      const std::span<std::uint32_t> a(wide != nullptr ? wide : a_values.data(), size);
      const Segment& segment = segments.segments[i];
      read_segment(input, segment, segments.log_leaves, a, {b != nullptr ? b : b_values.data(), b_values.size()});
      if (copy_a) {
        leaves.added = 0;  // the copy has it
      }
      if (copy_a && narrow) {
        std::uint16_t* const out = segments.narrow.data() + copies.a[i] * size;
        for (std::size_t x = 0; x < size; ++x) {
          all |= a[x];
          out[x] = static_cast<std::uint16_t>(a[x]);
        }
        leaves.narrow = out;
      } else if (copy_a) {
        leaves.wide = wide;
      }
      if (copy_b) {
        leaves.wide_b = b;
      }
    }
  }
  return !narrow || all >> 16 == 0;
}

/// Who works on each chunk.
std::vector<int> chunk_owners(const Ownership& ownership, const Shape& shape, int ranks) {
  std::vector<int> owners;
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    owners.push_back(chunk_owner(ownership, shape, chunk, ranks));
  }
  return owners;
}

/// log2 of the chunks from `first` on that are one segment: neighbours of one rank, all present, aligned.
unsigned log_run_of_chunks(const Shape& shape, std::span<const int> owners, std::size_t first, unsigned top) {
  unsigned log_chunks = 0;
  if (shape.inner_bits() == 0) {
    return log_chunks;  // single leaves are known to all ranks
  }
  const auto is_run = [&](unsigned log_count) {
    const std::size_t count = std::size_t{1} << log_count;
    const std::size_t place = shape.outer_index(first);
    return place % count == 0 && first + count <= owners.size() &&
           shape.outer_index(first + count - 1) == place + count - 1 &&
           std::ranges::all_of(owners.subspan(first, count), [&](int owner) { return owner == owners[first]; });
  };
  while (shape.inner_bits() + log_chunks < top && is_run(log_chunks + 1)) {
    ++log_chunks;
  }
  return log_chunks;
}

}  // namespace

int chunk_owner(const Ownership& ownership, const Shape& shape, std::size_t chunk, int ranks) {
  return ownership.dimension == Ownership::replicated ? contiguous_owner(chunk, shape.chunk_count(), ranks)
                                                      : ownership.owner(shape, chunk, ranks);
}

void read_segment(const LookupInput& input, const Segment& segment, unsigned log_leaves, std::span<std::uint32_t> a,
                  std::span<std::int32_t> b) {
  const std::size_t size = input.structure.columns[segment.source].shape.chunk_size();
  for (std::size_t i = 0; i * size < std::size_t{1} << log_leaves; ++i) {
    read_chunk(input.columns[segment.source], segment.part + i, a.subspan(i * size, size),
               b.empty() ? b : b.subspan(i * size, size));
  }
}

std::vector<SegmentClass> make_segments(const LookupInput& input, unsigned top, const Communicator& comm) {
  const LookupStructure& structure = input.structure;
  const LookupStructure::Slots slots = structure.slots();
  std::map<ClassKey, SegmentClass> classes;
  const auto class_of = [&](LeafKind kind, bool narrow, unsigned log_leaves) -> SegmentClass& {
    SegmentClass& result = classes[{kind, narrow, log_leaves}];
    result.kind = kind;
    result.log_leaves = log_leaves;
    return result;
  };
  for (std::size_t c = 0; c < structure.columns.size(); ++c) {
    const Shape& shape = structure.columns[c].shape;
    const std::size_t table = structure.columns[c].table;
    const std::vector<int> owners = chunk_owners(input.columns[c].ownership, shape, comm.size());
    for (std::size_t chunk = 0; chunk < shape.chunk_count();) {
      const unsigned log_chunks = log_run_of_chunks(shape, owners, chunk, top);
      const unsigned bits = shape.inner_bits() + log_chunks;
      const LeafKind kind = bits < least_integer_bits ? LeafKind::fractions
                            : input.has_pairs(table)  ? LeafKind::pairs
                                                      : LeafKind::integers;
      const bool narrow = kind != LeafKind::fractions && structure.tables[table].log_size <= 16;
      SegmentClass& segments = class_of(kind, narrow, bits);
      if (owners[chunk] == comm.rank()) {
        segments.segments.push_back(
            {false, c, chunk, (slots.column[c] >> bits) + (shape.outer_index(chunk) >> log_chunks)});
      }
      chunk += std::size_t{1} << log_chunks;
    }
  }
  for (std::size_t t = 0; t < structure.tables.size(); ++t) {
    const TablePieces pieces(structure.tables[t].log_size, comm.size());
    SegmentClass& segments = class_of(LeafKind::fractions, false, pieces.log_size);
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      if (pieces.owner(piece) == comm.rank()) {
        segments.segments.push_back({true, t, piece, (slots.table[t] >> pieces.log_size) + piece});
      }
    }
  }
  std::vector<SegmentClass> result;
  for (auto& [key, segments] : classes) {
    std::ranges::sort(segments.segments, {}, &Segment::place);
    if (segments.kind != LeafKind::fractions && !read_columns(segments, input, std::get<bool>(key))) {
      read_columns(segments, input, false);
    }
    result.push_back(std::move(segments));
  }
  return result;
}

}  // namespace tessera
