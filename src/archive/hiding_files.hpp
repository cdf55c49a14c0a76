#pragma once

#include <cstdint>
#include <filesystem>

#include "cluster/communicator.hpp"
#include "hash/blake2s.hpp"

/// \file
/// What a hiding commitment keeps beside its codeword: `secret`, 32 bytes that only their owner can read, and `uses`,
/// how many proofs were begun. Both are lines of defence: who has the secret and proofs can work out weights, and so
/// can who has more proofs than the commitment is good for.

namespace tessera {

/// A secret of 32 bytes; throws InputError if it has another length or if others can read it.
Digest load_secret(const std::filesystem::path& file);
/// Writes it so that others cannot read it.
void save_secret(const std::filesystem::path& file, const Digest& secret);

/// What a commitment's random columns and salt are made from: H("tessera hiding secret" || secret || digest of the
/// parameters || number of proofs). A secret that serves other parameters or another number of proofs, too, gives
/// independent ones.
Digest commitment_seed(const Digest& secret, const Digest& parameters, std::uint64_t proofs);

/// How many of a key's proofs were begun.
struct UseCount {
  Digest key{};
  std::uint64_t proofs = 0, used = 0;
  [[nodiscard]] std::uint64_t left() const { return proofs - used; }
};
/// `uses` of a commitment directory. Throws InputError if it is missing, damaged or of another key: a fresh count is
/// never assumed.
UseCount load_uses(const std::filesystem::path& directory, const Digest& key, std::uint64_t proofs);
/// Throws InputError as load_uses() does, or if none is left.
void require_use_left(const std::filesystem::path& directory, const Digest& key, std::uint64_t proofs);
void save_uses(const std::filesystem::path& directory, const UseCount& uses);
/// Takes one use, locked and on the disk before it returns; a job that dies afterwards has used it up. Throws
/// InputError if none is left or if the directory cannot be written.
void reserve_use(const std::filesystem::path& directory, const Digest& key, std::uint64_t proofs);

/// Rank 0's secret of a commitment directory, on all ranks. Collective.
Digest shared_secret(const std::filesystem::path& directory, Communicator& comm);
/// A new seed for one proof, rank 0's on all ranks. Collective.
Digest shared_seed(Communicator& comm);

/// From now on this process writes no core dump and other processes cannot read its memory; files that it makes are its
/// owner's alone.
void keep_process_private();
/// But for this one: it may be read by whom it could have been read before.
void make_public(const std::filesystem::path& file);
/// Overwrites and removes a file of secrets, such as a trace; nothing if there is none. Throws JobError if it stays.
void wipe_file(const std::filesystem::path& file);

}  // namespace tessera
