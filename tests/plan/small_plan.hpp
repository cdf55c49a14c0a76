#pragma once

#include "plan/builder.hpp"

namespace tessera::test {

inline VerifyingKey small_key() {
  VerifyingKey key;
  key.shape.n_positions = 8;
  key.shape.n_vocab = 10;
  key.filler = 9;
  return key;
}

/// One tensor of each kind of declaration, over (2 chunks, 4 places).
struct SmallPlan : Plan {
  Shape shape = Shape({Dimension::outer(2), Dimension::whole(4)});
  CommittedValue<std::int32_t> value;      // 20 bits, signed
  RecordedRange<std::uint16_t> remainder;  // of a shift by 5
  RecordedPair<std::int16_t> pair;         // (a, a^2)
  Recorded<std::int64_t> note;             // recorded only
  DerivedRange wide;                       // 33 bits
  CommittedDerived quotient;               // 16 bits
  Derived alone;                           // committed only
  TensorId alone_id = 0;
  RangeId layer;  // 18 bits

  explicit SmallPlan(std::size_t prompt = 3, std::size_t generate = 1)
      : Plan(small_key(), {.prompt = prompt, .generated = generate}) {
    Builder builder(*this);
    const std::size_t squares = builder.table("squares", 3, {0, 1, 4, 9, 16, 25, 36, 49});
    const Ownership by_chunk{0};
    value = builder.committed_value<std::int32_t>("value", shape, by_chunk, 20, true);
    remainder = builder.remainder<std::uint16_t>("remainder", shape, {}, 5);
    pair = builder.pair<std::int16_t>("pair", shape, by_chunk, squares);
    note = builder.record<std::int64_t>("note", shape, {}, -3);
    wide = builder.derived_value("wide", shape, by_chunk, 33);
    quotient = builder.committed_derived("quotient", shape, {}, 16);
    alone = builder.derive("alone", shape, {});
    alone_id = builder.commit(alone);
    layer = builder.layer_value("layer", shape, 18);
    builder.finish_tables();
    pack({shape}, {shape, shape});
  }
};

}  // namespace tessera::test
