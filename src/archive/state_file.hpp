#pragma once

#include <filesystem>
#include <optional>

#include "cluster/communicator.hpp"
#include "plan/plan.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

inline constexpr std::string_view state_format = "tessera conversation state";
inline constexpr std::string_view state_rows_format = "tessera conversation keys and values";
inline constexpr std::string_view state_manifest = "state.h5";
inline constexpr std::string_view state_rows_prefix = "keys_values";

/// Where a conversation stands: keys and values (B,A,S), their features maybe in several dimensions, are this rank's.
/// Nothing: it has not begun.
struct Past {
  std::optional<ConversationState> state;
  std::vector<ChunkedTensor<std::int16_t>> tensors;  // keys, values
  std::vector<Digest> nodes;                         // of its tree, compact_nodes() of them, on every rank
};

/// Writes a state into a directory: keys_values-<n>.h5 for chunk n of the features (a head, where its size is
/// a power of two or its places are a dimension) with `keys` and `values` (blocks, features of the chunk, length)
/// int16, written by the rank that owns it; state.h5 with key_digest, root, length, last_token, compact_nodes() of
/// the tree and the digests of those files. The files are the same for any number of ranks. Collective; a
/// rank's error is every rank's.
void save_state(const std::filesystem::path& directory, const Digest& key, const Past& past, Communicator& comm);

/// The state in a directory, a beginning if it is empty. Throws InputError, on all ranks, unless it is one of this key
/// whose length its model can have, and its files are whole and those that state.h5 names. `shapes`: of keys and
/// values, chunk for chunk of the same features. Collective.
Past load_state(const std::filesystem::path& directory, const VerifyingKey& key, const StateShapes& shapes,
                Communicator& comm);

}  // namespace tessera
