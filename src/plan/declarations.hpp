#pragma once

#include <concepts>
#include <string>
#include <variant>
#include <vector>

#include "lookup/lookup.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// Number of a committed tensor in its oracle.
using TensorId = std::size_t;

/// Integers of a tensor that inference records.
using RecordedTensor = std::variant<ChunkedTensor<std::int16_t>, ChunkedTensor<std::uint16_t>,
                                    ChunkedTensor<std::int32_t>, ChunkedTensor<std::int64_t>>;
template <class T>
concept Recordable = std::constructible_from<RecordedTensor, std::in_place_type_t<ChunkedTensor<T>>>;

/// A tensor of integers that layers declare, before any values: every rank allocates its share of it.
struct DeclaredTensor {
  std::string name;
  Shape shape;
  Ownership ownership;
  std::uint8_t bytes = 0;  // of a value
  bool is_signed = true;
  std::int64_t fill = 0;  // what the identities give in padding and above the diagonal
};

/// Bits of a range check, and how pages say it for every model.
struct Width {
  constexpr Width(unsigned value, std::string_view formula = {}) : bits(value), text(formula) {}
  unsigned bits;
  std::string_view text;  // empty: the number itself
};

/// What a layer declares, as pages list it: one entry appends committed tensors, look-up columns or both.
struct Declaration {
  enum class Kind : std::uint8_t { tensor, value, remainder, pair };
  Kind kind = Kind::tensor;
  std::string name;
  Shape shape;
  Width width = 0;  // of a value or remainder
  bool is_signed = false;
  std::string table = {};  // of a pair
};

/// Handle of a tensor that inference records, by its number in Plan::recorded.
template <class T>
struct Recorded {
  std::size_t recorded = 0;
};

/// Handle of a tensor that a witness step computes, by its number in Plan::derived.
struct Derived {
  std::size_t derived = 0;
};

/// A tensor whose values are clamped where they leave their range, under a key with exceptions, and listed.
struct ClampedTensor {
  enum class Kind : std::uint8_t {
    values,        ///< of `width` bits, signed
    later_blocks,  ///< the same, of all blocks but the first
    scores,        ///< the same, of visible keys
    distances,     ///< of visible keys: more than their table's last row becomes that
  };
  std::string name;
  Shape shape;
  unsigned width = 0;
  int shift = 0;  // S: |excess| <= 2^(62 - S)
  Kind kind = Kind::values;
  /// Whether a place is a query and a key.
  [[nodiscard]] bool of_pairs() const { return kind == Kind::scores || kind == Kind::distances; }
};

/// Number of a clamped tensor in Plan::clamped, if the tensor is one.
struct ClampId {
  static constexpr std::size_t no_list = static_cast<std::size_t>(-1);
  std::size_t list = no_list;
  [[nodiscard]] bool known() const { return list != no_list; }
};

/// Where the values of a committed or range-checked tensor come from.
struct Source {
  enum class Kind : std::uint8_t {
    recorded,  ///< Plan::recorded[number]
    derived,   ///< Plan::derived[number]
    layer,     ///< the layer's witness step says it chunk by chunk
  };
  Kind kind = Kind::layer;
  std::size_t number = 0;
};

/// A range-checked tensor: value + offset*Pres = sum_i 2^(16*i) * piece_i, every piece a column of the look-up in a
/// range table, the top one at its exact remaining width. Of a remainder all pieces are committed, unless it is of what
/// is added to the stream; else the top one is virtual (what the others leave of it), so they cannot drift apart.
struct RangeCheck {
  std::string name;
  Shape shape;
  unsigned width = 0;  // bits of value + offset
  std::int64_t offset = 0;
  std::vector<std::size_t> columns;  // look-up column of every piece, lowest first
  std::vector<TensorId> committed;   // witness tensor of the committed pieces, lowest first
  Source source;
  [[nodiscard]] std::size_t pieces() const { return columns.size(); }
};

/// Handle of a range check, by its number in Plan::ranges.
struct RangeId {
  std::size_t range = 0;
  ClampId clamp = {};
};

/// A range check whose values inference records.
template <class T>
struct RecordedRange : RangeId, Recorded<T> {};

/// A range check whose values a witness step computes.
struct DerivedRange : RangeId, Derived {};

/// A committed tensor of recorded values and its range check.
template <class T>
struct CommittedValue : Recorded<T> {
  TensorId tensor = 0;
  RangeId checked;
};

/// A committed tensor of derived values and its range check.
struct CommittedDerived : Derived {
  TensorId tensor = 0;
  RangeId checked;
};

/// Integers that a sum of the prover's reads, wherever they lie: what inference recorded, or a committed tensor.
struct Integers {
  enum class Kind : std::uint8_t { recorded, committed };
  Kind kind = Kind::recorded;
  std::size_t number = 0;
  Integers() = default;
  Integers(Kind where, std::size_t which) : kind(where), number(which) {}
  template <class T>
  Integers(const Recorded<T>& values) : number(values.recorded) {}
  static Integers committed(TensorId tensor) { return {Kind::committed, tensor}; }
  static Integers recorded(std::size_t number) { return {Kind::recorded, number}; }
};

/// A range check and its values.
struct RangedIntegers : RangeId {
  Integers values;
  template <class T>
  RangedIntegers(const RecordedRange<T>& recorded) : RangeId(recorded), values(recorded) {}
};

/// A table look-up of pairs: input column a, output b committed.
struct PairLookup {
  std::size_t column = 0;
  TensorId output = 0;
  Shape shape;
  ClampId clamp = {};  // of what is looked up
};

/// A pair look-up whose output inference records.
template <class T>
struct RecordedPair : PairLookup, Recorded<T> {};

/// A pair look-up whose output a witness step computes.
struct DerivedPair : PairLookup, Derived {};

/// The value of a committed tensor is what its range check's pieces say: a claim at the look-up point.
struct CheckedTensor {
  TensorId tensor = 0;
  RangeId range;
};

}  // namespace tessera
