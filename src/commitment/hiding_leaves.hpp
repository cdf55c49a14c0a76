#pragma once

#include "commitment/codeword.hpp"
#include "commitment/schedule.hpp"
#include "hash/keyed_stream.hpp"

/// \file
/// What hiding oracles' leaves hold after the column.

namespace tessera {

/// Salt of the leaves at these positions: `count` elements each, as LeafExtras has them.
std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions);

/// Salt alone, at this rank's positions of the oracle's domain.
LeafExtras salted_leaves(const OracleLayout& layout, const OracleParameters& parameters, const KeyedStream& salt,
                         std::size_t count, const Communicator& comm);

/// Of the carrier (the last of the schedule's oracles): the masks of v_0's segments, its own first, then those of
/// oracle 0, 1, .., each at the power of the position's point that lies in its domain; then salt. Not collective.
LeafExtras masked_leaves(const OpeningSchedule& schedule, const KeyedStream& vector, const KeyedStream& salt,
                         std::size_t salt_count, const Communicator& comm);

/// commit_oracle() of the last of the oracles, whose leaves are masked_leaves() with as much salt as it says.
/// Collective.
std::unique_ptr<CodewordStore> commit_carrier(std::span<const CommittedOracle> oracles,
                                              std::span<const IntegerTensor> tensors, const KeyedStream& vector,
                                              const KeyedStream& salt, Communicator& comm,
                                              std::size_t budget = default_codeword_budget);

}  // namespace tessera
