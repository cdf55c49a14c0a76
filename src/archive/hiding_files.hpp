#pragma once

#include <cstdint>
#include <filesystem>

#include "cluster/communicator.hpp"
#include "hash/blake2s.hpp"

/// \file
/// What a hiding commitment keeps beside its codeword: `secret`, 32 bytes that only their owner can read, and how many
/// proofs were begun (hiding_uses.hpp). Both are lines of defence: who has the secret and proofs can work out weights,
/// and so can who has more proofs than the commitment is good for.

namespace tessera {

struct VerifyingKey;

/// A secret of 32 bytes; throws InputError if it has another length or if others can read it.
Digest load_secret(const std::filesystem::path& file);
/// Writes it so that others cannot read it.
void save_secret(const std::filesystem::path& file, const Digest& secret);

/// What a commitment's random columns and salt are made from: H("tessera hiding secret" || secret || digest of the
/// parameters || digest of the key with a root of zeros). Whatever two commitments of one secret differ in, their
/// random elements are independent: equal ones have equal keys, hence equal roots, by which uses are counted.
Digest commitment_seed(const Digest& secret, const Digest& parameters, const VerifyingKey& key);

/// Rank 0's secret of a commitment directory, on all ranks. Collective.
Digest shared_secret(const std::filesystem::path& directory, Communicator& comm);
/// A new seed for one proof, rank 0's on all ranks. Collective.
Digest shared_seed(Communicator& comm);

/// From now on this process writes no core dump and other processes cannot read its own memory, but what goes through
/// segments that ranks of a node share (MPI's are files of their owner's); files that it makes are its owner's alone.
/// May be called again.
void keep_process_private();
/// Makes one file an exception to keep_process_private(): it may be read by whom it could have been read before.
void make_public(const std::filesystem::path& file);

}  // namespace tessera
