#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "datasets/gathered_proofs.hpp"

namespace tessera {

/// What an archive of many proofs that may come from anyone holds, read by a confined child process; nothing of a file
/// of another format. `check`: all its digests, too. Throws InputError as read_isolated() and read_gathered() do.
std::optional<std::vector<GatheredProof>> list_gathered_isolated(const std::filesystem::path& path, bool check = false);

/// The list as bytes, for other processes; InputError for any that encode_gathered() does not give.
std::vector<std::uint8_t> encode_gathered(std::span<const GatheredProof> proofs);
std::vector<GatheredProof> decode_gathered(std::span<const std::uint8_t> bytes);

}  // namespace tessera
