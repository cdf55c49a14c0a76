#pragma once

#include <filesystem>
#include <mutex>

namespace tessera {

// Files and directories are made under a temporary name beside their target: "<target>.partial-<place>-<process>",
// where <place> is the host and its space of process numbers. A process that is killed leaves them; whoever writes the
// same target next on that host takes them away.

/// The temporary name of this process for `target`.
std::filesystem::path temporary_beside(const std::filesystem::path& target);
/// Removes what processes of this host that no longer exist have left beside `target`. Errors are ignored: what cannot
/// be removed is in nobody's way.
void remove_stale_beside(const std::filesystem::path& target) noexcept;

// A process that is told to end takes away what it has registered: from before a temporary file or directory is made
// until it is gone or in place.
void register_temporary(const std::filesystem::path& path);
void unregister_temporary(const std::filesystem::path& path) noexcept;

/// While one lives, remove_temporaries() of another thread waits: for steps that put files in place.
[[nodiscard]] std::unique_lock<std::recursive_mutex> hold_temporaries();

/// Removes all that is registered. From then on threads that register, or put something in place, wait: the process
/// must end.
void remove_temporaries() noexcept;

}  // namespace tessera
