#pragma once

#include <type_traits>

#include "plan/plan.hpp"

namespace tessera {

/// Fills the lists of a plan in the order in which layers declare: the order is part of the proof's format. Every
/// tensor is declared once, here; trace, trace file, look-up, witness and claims are loops over the lists.
class Builder {
 public:
  explicit Builder(Plan& plan) : plan_(plan) {}

  /// A function table, numbered from 0 in the order of declaration; before all columns.
  std::size_t table(std::string name, unsigned log_size, std::vector<std::int64_t> values);

  /// A tensor that inference records; `fill` stands where it computes nothing.
  template <Recordable T>
  Recorded<T> record(const std::string& name, const Shape& shape, Ownership ownership, std::int64_t fill = 0) {
    plan_.recorded.push_back({name, shape, ownership, sizeof(T), std::is_signed_v<T>, fill});
    return {plan_.recorded.size() - 1};
  }
  /// A tensor that a witness step computes.
  Derived derive(const std::string& name, const Shape& shape, Ownership ownership);

  /// A committed tensor: recorded, derived, or given by the layer's witness step.
  template <class T>
  TensorId commit(const Recorded<T>& tensor) {
    return commit(plan_.recorded[tensor.recorded], {Source::Kind::recorded, tensor.recorded});
  }
  TensorId commit(const Derived& tensor) {
    return commit(plan_.derived[tensor.derived], {Source::Kind::derived, tensor.derived});
  }

  /// A value that inference records: all its pieces but the top one are committed.
  template <class T>
  RecordedRange<T> value(const std::string& name, const Shape& shape, Ownership ownership, Width width,
                         bool is_signed = false) {
    const Recorded<T> values = record<T>(name, shape, ownership);
    return {range(name, shape, width, is_signed, false, {Source::Kind::recorded, values.recorded}), values};
  }
  /// A value that the witness step derives: all its pieces but the top one are committed.
  DerivedRange derived_value(const std::string& name, const Shape& shape, Ownership ownership, Width width);
  /// A value that the layer's witness step gives chunk by chunk: all its pieces but the top one are committed.
  RangeId layer_value(const std::string& name, const Shape& shape, Width width, bool is_signed = false);

  /// A remainder of rshift by `shift`, recorded: it is the sum of its committed pieces. Where nothing is computed it is
  /// 2^(shift-1), as rshift(0, shift) leaves.
  template <class T>
  RecordedRange<T> remainder(const std::string& name, const Shape& shape, Ownership ownership, int shift) {
    return remainder<T>(name, shape, ownership, shift, true);
  }
  /// A remainder of rshift by `shift`, recorded, whose rshift is the difference of committed tensors: it follows from
  /// these, and all its pieces but the top one are committed.
  template <class T>
  RecordedRange<T> update_remainder(const std::string& name, const Shape& shape, Ownership ownership, int shift) {
    return remainder<T>(name, shape, ownership, shift, false);
  }

  /// A remainder of rshift by `shift` that the layer's witness step gives chunk by chunk: it is the sum of its
  /// committed pieces.
  RangeId layer_remainder(const std::string& name, const Shape& shape, int shift);

  /// A committed tensor and, at once or later, the range check of its values.
  template <class T>
  CommittedValue<T> committed(const std::string& name, const Shape& shape, Ownership ownership) {
    const Recorded<T> values = record<T>(name, shape, ownership);
    return {values, commit(values), {}};
  }
  template <class T>
  void check(CommittedValue<T>& value, Width width, bool is_signed = false) {
    value.checked = check(value.tensor, {Source::Kind::recorded, value.recorded}, width, is_signed);
  }
  template <class T>
  CommittedValue<T> committed_value(const std::string& name, const Shape& shape, Ownership ownership, Width width,
                                    bool is_signed = false) {
    CommittedValue<T> value = committed<T>(name, shape, ownership);
    check(value, width, is_signed);
    return value;
  }
  CommittedDerived committed_derived(const std::string& name, const Shape& shape, Ownership ownership, Width width,
                                     bool is_signed = false);
  /// A remainder of rshift by `shift` that the witness step derives: it is the sum of its committed pieces.
  DerivedRange derived_remainder(const std::string& name, const Shape& shape, Ownership ownership, int shift);
  /// What is left over of a value that the witness step derives: it is the sum of its committed pieces.
  DerivedRange derived_excess(const std::string& name, const Shape& shape, Ownership ownership, Width width);
  /// A pair of a function table: its derived output is committed, the layer's witness step gives the input.
  DerivedPair derived_pair(const std::string& name, const Shape& shape, Ownership ownership, std::size_t table);

  /// A pair of a function table: its recorded output is committed, the layer's witness step gives the input.
  template <class T>
  RecordedPair<T> pair(const std::string& name, const Shape& shape, Ownership ownership, std::size_t table) {
    const Recorded<T> values = record<T>(name, shape, ownership);
    return {pair(name, shape, commit(values), table), values};
  }

  /// Under a key with exceptions the values of a range, what a rshift by `shift` gives, are clamped and listed. After
  /// those that are declared before it, and before its handle is copied.
  void clamp(RangeId& range, int shift, ClampedTensor::Kind kind = ClampedTensor::Kind::values);
  /// Under a key with exceptions what is looked up in a table, which a rshift by `shift` gives, is clamped and listed,
  /// under a name of its own. Called in the order of declarations, and before the handle is copied.
  void clamp(PairLookup& pair, std::string name, unsigned width, int shift,
             ClampedTensor::Kind kind = ClampedTensor::Kind::values);

  /// Numbers the range tables by width, after all columns are known, and commits the multiplicities.
  void finish_tables();

 private:
  template <class T>
  RecordedRange<T> remainder(const std::string& name, const Shape& shape, Ownership ownership, int shift,
                             bool commit_top) {
    const Recorded<T> values = record<T>(name, shape, ownership, std::int64_t{1} << (shift - 1));
    return {range(name, shape, {static_cast<unsigned>(shift), "S"}, false, commit_top,
                  {Source::Kind::recorded, values.recorded}),
            values};
  }
  TensorId commit(const DeclaredTensor& tensor, Source source);
  TensorId append(std::string name, const Shape& shape, Source source);
  RangeId check(TensorId tensor, Source source, Width width, bool is_signed);
  PairLookup pair(const std::string& name, const Shape& shape, TensorId output, std::size_t table);
  RangeId range(const std::string& name, const Shape& shape, Width width, bool is_signed, bool commit_top,
                Source source);
  /// Whether its values are what pieces are: a remainder of one piece needs no other tensor.
  [[nodiscard]] bool is_piece(const Source& source) const;
  std::size_t column(const std::string& name, const Shape& shape, std::size_t table);
  ClampId clamp(ClampedTensor tensor);

  /// A look-up column and the width of its range table.
  struct RangeColumn {
    std::size_t column = 0;
    unsigned width = 0;
  };
  Plan& plan_;
  std::vector<RangeColumn> range_columns_;
};

}  // namespace tessera
