#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"

#include "expected_factor.hpp"

namespace tessera::test {
namespace {

TEST(ChunkedFactor, causal_mask_is_one_up_to_the_query) {
  SelfCommunicator self;
  expect_values(
      CausalMask{score_shape},
      [](const Entry& entry) { return entry.index[3] <= entry.index[2] ? E::one() : E::zero(); }, self);
}

TEST(ChunkedFactor, causal_mask_after_a_past) {
  SelfCommunicator self;
  for (const std::size_t past : {1, 3, 4, 9}) {
    for (const unsigned query_bits : {0U, 1U, 3U}) {
      const Dimension query{8, query_bits};
      const Dimension key{8 + past, 1};
      const Shape shape({Dimension::outer(3), Dimension::outer(2), query, key}, Presence::causal);
      expect_values(
          CausalMask{shape, past},
          [&](const Entry& entry) { return entry.index[3] <= entry.index[2] + past ? E::one() : E::zero(); }, self,
          shape);
    }
  }
}

}  // namespace
}  // namespace tessera::test
