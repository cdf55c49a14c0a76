#pragma once

#include <filesystem>

#include "plan/key.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

inline constexpr std::string_view state_format = "tessera conversation state";
inline constexpr std::string_view state_rows_format = "tessera conversation keys and values";
inline constexpr std::string_view state_manifest = "state.h5";
inline constexpr std::string_view state_rows_prefix = "keys_values";

/// What a state directory holds besides keys and values.
struct StoredState {
  Digest key{};  // digest of the verifying key
  ConversationState state;
  std::vector<Digest> parts;  // digests of the files of keys and values
};

/// Writes a state into a directory: keys_values-<n>.h5 for chunk n of the feature dimension (a head, where its size is
/// a power of two) with `keys` and `values` (blocks, features of the chunk, length) int16, written by the rank that
/// owns it; state.h5 with key_digest, root, length, last_token and the digests of those files. The files are the same
/// for any number of ranks. `tensors`: keys, values (B,A,S). Collective; a rank's error is every rank's.
void save_state(const std::filesystem::path& directory, const Digest& key, const ConversationState& state,
                const std::vector<ChunkedTensor<std::int16_t>>& tensors, Communicator& comm);

/// state.h5 of a directory, the same on all ranks. Throws InputError unless it is a state of this key whose length its
/// model can have. Collective.
StoredState read_state(const std::filesystem::path& directory, const VerifyingKey& key, Communicator& comm);

/// Keys and values (B,A,S) of this rank, zero beyond the state's length. Throws InputError, on all ranks, for files
/// that are damaged or not those that state.h5 names. Collective.
std::vector<ChunkedTensor<std::int16_t>> load_state(const std::filesystem::path& directory, const StoredState& stored,
                                                    const Shape& shape, Communicator& comm);

}  // namespace tessera
