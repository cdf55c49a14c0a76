#include "plan/builder.hpp"

#include <map>

namespace tessera {
namespace {

constexpr unsigned piece_bits = 16;

}  // namespace

std::size_t Builder::table(std::string name, unsigned log_size, std::vector<std::int64_t> values) {
  plan_.lookup.tables.push_back({std::move(name), log_size, std::move(values)});
  return plan_.lookup.tables.size() - 1;
}

Derived Builder::derive(const std::string& name, const Shape& shape, Ownership ownership) {
  plan_.derived.push_back({name, shape, ownership, sizeof(std::int64_t), true, 0});
  return {plan_.derived.size() - 1};
}

DerivedRange Builder::derived_value(const std::string& name, const Shape& shape, Ownership ownership, Width width) {
  const Derived values = derive(name, shape, ownership);
  return {range(name, shape, width, false, false, {Source::Kind::derived, values.derived}), values};
}

RangeId Builder::layer_value(const std::string& name, const Shape& shape, Width width, bool is_signed) {
  return range(name, shape, width, is_signed, false, {});
}

RangeId Builder::layer_remainder(const std::string& name, const Shape& shape, int shift) {
  return range(name, shape, {static_cast<unsigned>(shift), "S"}, false, true, {});
}

CommittedDerived Builder::committed_derived(const std::string& name, const Shape& shape, Ownership ownership,
                                            Width width, bool is_signed) {
  const Derived values = derive(name, shape, ownership);
  const TensorId tensor = commit(values);
  return {values, tensor, check(tensor, {Source::Kind::derived, values.derived}, width, is_signed)};
}

DerivedRange Builder::derived_remainder(const std::string& name, const Shape& shape, Ownership ownership, int shift) {
  return derived_excess(name, shape, ownership, {static_cast<unsigned>(shift), "S"});
}

DerivedRange Builder::derived_excess(const std::string& name, const Shape& shape, Ownership ownership, Width width) {
  const Derived values = derive(name, shape, ownership);
  return {range(name, shape, width, false, true, {Source::Kind::derived, values.derived}), values};
}

DerivedPair Builder::derived_pair(const std::string& name, const Shape& shape, Ownership ownership, std::size_t table) {
  const Derived values = derive(name, shape, ownership);
  return {pair(name, shape, commit(values), table), values};
}

TensorId Builder::commit(const DeclaredTensor& tensor, Source source) {
  plan_.declarations.push_back({Declaration::Kind::tensor, tensor.name, tensor.shape});
  return append(tensor.name, tensor.shape, source);
}

TensorId Builder::append(std::string name, const Shape& shape, Source source) {
  plan_.witness_names.push_back(std::move(name));
  plan_.witness_shapes.push_back(shape);
  plan_.witness_sources.push_back(source);
  return plan_.witness_shapes.size() - 1;
}

RangeId Builder::check(TensorId tensor, Source source, Width width, bool is_signed) {
  const std::string name = plan_.witness_names[tensor];  // copies: the lists grow
  const Shape shape = plan_.witness_shapes[tensor];
  const RangeId checked = range(name, shape, width, is_signed, false, source);
  plan_.checked_tensors.push_back({tensor, checked});
  return checked;
}

PairLookup Builder::pair(const std::string& name, const Shape& shape, TensorId output, std::size_t table) {
  plan_.declarations.back() = {Declaration::Kind::pair, name, shape, 0, false, plan_.lookup.tables[table].name};
  plan_.pairs.push_back({column(name, shape, table), output, shape});
  return plan_.pairs.back();
}

RangeId Builder::range(const std::string& name, const Shape& shape, Width width, bool is_signed, bool commit_top,
                       Source source) {
  plan_.declarations.push_back(
      {commit_top ? Declaration::Kind::remainder : Declaration::Kind::value, name, shape, width, is_signed});
  const unsigned bits = width.bits;
  RangeCheck range{name, shape, bits, is_signed ? std::int64_t{1} << (bits - 1) : 0, {}, {}, source};
  const unsigned pieces = (bits + piece_bits - 1) / piece_bits;
  for (unsigned i = 0; i < pieces; ++i) {
    const bool top = i + 1 == pieces;
    const std::string piece = name + "/" + std::to_string(i);
    const std::size_t index = column(piece, shape, 0);
    range_columns_.push_back({index, top ? bits - piece_bits * i : piece_bits});
    range.columns.push_back(index);
    if (!top || commit_top) {
      range.committed.push_back(append(piece, shape, pieces == 1 && is_piece(source) ? source : Source{}));
    }
  }
  plan_.ranges.push_back(std::move(range));
  return {plan_.ranges.size() - 1};
}

bool Builder::is_piece(const Source& source) const {
  if (source.kind != Source::Kind::recorded) {
    return false;
  }
  const DeclaredTensor& values = plan_.recorded[source.number];
  return values.bytes == sizeof(std::uint16_t) && !values.is_signed;
}

std::size_t Builder::column(const std::string& name, const Shape& shape, std::size_t table) {
  plan_.lookup.columns.push_back({name, shape, table});
  return plan_.lookup.columns.size() - 1;
}

ClampId Builder::clamp(ClampedTensor tensor) {
  if (plan_.exception_limit == 0) {
    return {};
  }
  plan_.clamped.push_back(std::move(tensor));
  return {plan_.clamped.size() - 1};
}

void Builder::clamp(RangeId& range, int shift, ClampedTensor::Kind kind) {
  const RangeCheck& check = plan_.ranges[range.range];
  range.clamp = clamp({check.name, check.shape, check.width, shift, kind});
}

void Builder::clamp(PairLookup& pair, std::string name, unsigned width, int shift, ClampedTensor::Kind kind) {
  pair.clamp = clamp({std::move(name), pair.shape, width, shift, kind});
}

void Builder::finish_tables() {
  std::map<unsigned, std::size_t> number;
  for (const RangeColumn& range : range_columns_) {
    number[range.width] = 0;
  }
  for (auto& [width, table_number] : number) {
    table_number = table("range" + std::to_string(width), width, {});
  }
  for (const RangeColumn& range : range_columns_) {
    plan_.lookup.columns[range.column].table = number[range.width];
  }
  for (const LookupTable& entry : plan_.lookup.tables) {
    const Shape rows({Dimension::whole(std::size_t{1} << entry.log_size)});
    plan_.multiplicities.push_back(append("multiplicity/" + entry.name, rows, {}));
  }
}

}  // namespace tessera
