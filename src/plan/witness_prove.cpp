#include <algorithm>
#include <stdexcept>

#include "plan/witness.hpp"

namespace tessera {
namespace {

Witness::Filler values_of(const IntegerTensor& tensor) {
  return [tensor](std::size_t chunk, std::span<std::int64_t> values) {
    std::visit([&](const auto* integers) { std::ranges::copy(integers->chunk(chunk), values.begin()); }, tensor);
  };
}

/// Where the chunks of a tensor lie as a look-up's b, if its integers are that wide.
std::function<LeafIntegers(std::size_t)> values_in_place(const IntegerTensor& tensor) {
  if (const auto* const narrow = std::get_if<const ChunkedTensor<std::int16_t>*>(&tensor)) {
    return [values = *narrow](std::size_t chunk) { return LeafIntegers{.narrow_b = values->chunk(chunk).data()}; };
  }
  if (const auto* const wide = std::get_if<const ChunkedTensor<std::int32_t>*>(&tensor)) {
    return [values = *wide](std::size_t chunk) { return LeafIntegers{.wide_b = values->chunk(chunk).data()}; };
  }
  return {};
}

/// Where signed values lie as a look-up's a, which is larger by an offset.
LeafIntegers offset_in_place(const std::int16_t* values, std::uint32_t offset) {
  return {.narrow = reinterpret_cast<const std::uint16_t*>(values), .added = offset};
}
LeafIntegers offset_in_place(const std::int32_t* values, std::uint32_t offset) {
  return {.wide = reinterpret_cast<const std::uint32_t*>(values), .added = offset};
}
/// Where the chunks of a tensor lie as the only piece of a range of so many bits.
std::function<LeafIntegers(std::size_t)> only_piece_in_place(const IntegerTensor& tensor, unsigned bits,
                                                             std::int64_t offset) {
  const auto narrow = std::get_if<const ChunkedTensor<std::int16_t>*>(&tensor);
  if (narrow == nullptr || bits != 16 || offset != std::int64_t{1} << 15) {
    return {};
  }
  return [values = *narrow](std::size_t chunk) { return offset_in_place(values->chunk(chunk).data(), 1U << 15); };
}

/// Where the chunks of a committed piece lie as a look-up's a.
std::function<LeafIntegers(std::size_t)> piece_in_place(const IntegerTensor& tensor) {
  return [piece = std::get<const ChunkedTensor<std::uint16_t>*>(tensor)](std::size_t chunk) {
    return LeafIntegers{.narrow = piece->chunk(chunk).data()};
  };
}

bool is_set(const IntegerTensor& tensor) {
  return std::visit([](const auto* integers) { return integers != nullptr; }, tensor);
}

}  // namespace

Witness::Witness(const Plan& plan, const Trace& trace, const ParameterTensors& parameter_tensors, Communicator& comm)
    : parameters(parameter_tensors.views()),
      tensors(plan.witness_shapes.size()),
      columns(plan.lookup.columns.size()),
      exceptions(trace.exceptions),
      plan_(plan),
      trace_(trace),
      rank_(comm.rank()),
      ranks_(comm.size()) {
  const std::vector<Shape>& shapes = plan.parameter_layout.tensors();  // a hiding one has another at its end
  const auto fits = [](const auto& tensor, const Shape& shape) { return tensor.shape() == shape; };
  if (parameter_tensors.tensors.size() > shapes.size() ||
      !std::equal(parameter_tensors.tensors.begin(), parameter_tensors.tensors.end(), shapes.begin(), fits)) {
    throw std::logic_error("witness: parameters are divided otherwise than the plan");
  }
  for (std::size_t number = 0; number < plan.recorded.size(); ++number) {
    recorded.push_back(trace.view(number));
  }
  for (const DeclaredTensor& tensor : plan.derived) {
    derived_.emplace_back(tensor.shape, tensor.ownership, rank_, ranks_);
  }
}

IntegerTensor Witness::source(const Source& source) const {
  return source.kind == Source::Kind::recorded ? recorded[source.number] : &derived_[source.number];
}

void Witness::set_input(const PairLookup& pair, const Filler& fill) {
  const IntegerTensor output = source(plan_.witness_sources[pair.output]);
  const Ownership ownership = ownership_of(output);
  columns[pair.column] = {ownership,
                          [fill, output](std::size_t chunk, std::span<std::uint32_t> a, std::span<std::int32_t> b) {
                            std::vector<std::int64_t> values(a.size());
                            fill(chunk, values);
                            for (std::size_t x = 0; x < a.size(); ++x) {
                              a[x] = static_cast<std::uint32_t>(values[x]);
                            }
                            std::visit(
                                [&](const auto* tensor) {
                                  std::ranges::transform(tensor->chunk(chunk), b.begin(),
                                                         [](auto value) { return static_cast<std::int32_t>(value); });
                                },
                                output);
                          },
                          values_in_place(output)};
}

template <class T>
void Witness::set_input(const PairLookup& pair, const ChunkedTensor<T>& values, std::uint32_t offset) {
  set_input(pair, [&values, offset](std::size_t chunk, std::span<std::int64_t> to) {
    std::ranges::transform(values.chunk(chunk), to.begin(), [offset](std::int64_t value) { return value + offset; });
  });
  LookupColumnData& column = columns[pair.column];
  column.in_place = [&values, offset, outputs = column.in_place](std::size_t chunk) {
    LeafIntegers leaves = outputs ? outputs(chunk) : LeafIntegers{};
    const LeafIntegers inputs = offset_in_place(values.chunk(chunk).data(), offset);
    leaves.narrow = inputs.narrow;
    leaves.wide = inputs.wide;
    leaves.added = inputs.added;
    return leaves;
  };
}
template void Witness::set_input(const PairLookup&, const ChunkedTensor<std::int16_t>&, std::uint32_t);
template void Witness::set_input(const PairLookup&, const ChunkedTensor<std::int32_t>&, std::uint32_t);

void Witness::set_range(RangeId id, Ownership ownership, const Filler& fill) {
  const RangeCheck& range = plan_.ranges[id.range];
  commit_pieces(range, ownership, fill);
  for (std::size_t i = 0; i < range.pieces(); ++i) {
    const bool top = i + 1 == range.pieces();
    const std::int64_t offset = range.offset;
    columns[range.columns[i]] = {
        ownership,
        [fill, offset, i, top](std::size_t chunk, std::span<std::uint32_t> a, std::span<std::int32_t>) {
          std::vector<std::int64_t> values(a.size());
          fill(chunk, values);
          for (std::size_t x = 0; x < a.size(); ++x) {
            const std::int64_t piece = (values[x] + offset) >> (16 * i);
            a[x] = static_cast<std::uint32_t>(top ? piece : piece & 0xFFFF);
          }
        },
        i < range.committed.size() ? piece_in_place(tensors[range.committed[i]]) : nullptr};
  }
}

void Witness::commit_pieces(const RangeCheck& range, Ownership ownership, const Filler& fill) {
  for (std::size_t i = 0; i < range.committed.size(); ++i) {
    if (plan_.witness_sources[range.committed[i]].kind != Source::Kind::layer) {
      continue;  // the values themselves
    }
    auto& piece = pieces_.emplace_back(range.shape, ownership, rank_, ranks_);
    const std::vector<std::size_t>& held = piece.held();
#pragma omp parallel
    {
      std::vector<std::int64_t> values(range.shape.chunk_size());
#pragma omp for
      for (std::size_t h = 0; h < held.size(); ++h) {
        fill(held[h], values);
        const std::span<std::uint16_t> out = piece.chunk(held[h]);
        for (std::size_t x = 0; x < values.size(); ++x) {
          out[x] = static_cast<std::uint16_t>((values[x] + range.offset) >> (16 * i));
        }
      }
    }
    tensors[range.committed[i]] = &piece;
  }
}

void Witness::finish(Communicator& comm, OutOfRange out_of_range) {
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    if (plan_.witness_sources[id].kind != Source::Kind::layer) {
      tensors[id] = source(plan_.witness_sources[id]);
    }
  }
  for (std::size_t id = 0; id < plan_.ranges.size(); ++id) {
    if (plan_.ranges[id].source.kind != Source::Kind::layer) {
      const RangeCheck& range = plan_.ranges[id];
      const IntegerTensor values = source(range.source);
      set_range({id}, ownership_of(values), values_of(values));
      if (range.pieces() == 1 && range.committed.empty()) {
        columns[range.columns.front()].in_place = only_piece_in_place(values, range.width, range.offset);
      }
    }
  }
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (!columns[column].read) {
      throw std::logic_error("witness: no values for look-up column " + plan_.lookup.columns[column].name);
    }
  }
  multiplicities = count_multiplicities(plan_.lookup, columns, comm, out_of_range);
  for (std::size_t table = 0; table < multiplicities.size(); ++table) {
    const TensorId id = plan_.multiplicities[table];
    auto& counts = counts_.emplace_back(plan_.witness_shapes[id], Ownership{}, rank_, ranks_);
    std::ranges::copy(multiplicities[table], counts.values().begin());
    tensors[id] = &counts;
  }
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    if (!is_set(tensors[id])) {
      throw std::logic_error("witness: no values for committed tensor " + plan_.witness_names[id]);
    }
  }
}

}  // namespace tessera
