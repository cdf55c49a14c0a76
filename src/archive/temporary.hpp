#pragma once

#include <filesystem>

namespace tessera {

// Files and directories are made under a temporary name beside their target: "<target>.partial-<place>-<process>",
// where <place> is the host and its space of process numbers. A process that is killed leaves them; whoever writes the
// same target next on that host takes them away.

/// The temporary name of this process for `target`.
std::filesystem::path temporary_beside(const std::filesystem::path& target);
/// Removes what processes of this host that no longer exist have left beside `target`. Errors are ignored: what cannot
/// be removed is in nobody's way.
void remove_stale_beside(const std::filesystem::path& target) noexcept;

}  // namespace tessera
