#pragma once

#include <filesystem>
#include <functional>

#include "archive/isolated.hpp"

namespace tessera {

/// read_isolated() by the HDF5 library, which damaged bytes can crash, hang or lead to foreign files: `read` may open
/// `path`, which the child has in memory, as a ReadFile, and nothing else. For who wants to see more of a file than
/// what a verifier needs.
std::vector<std::uint8_t> read_isolated_by_library(const std::filesystem::path& path,
                                                   const std::function<std::vector<std::uint8_t>()>& read,
                                                   const IsolationLimits& limits = {});

namespace hdf5 {
/// Makes an access list (hid_t) read the image that this process has of `path` and returns it; nothing if there is
/// none.
std::span<const std::byte> use_image(std::int64_t access, const std::filesystem::path& path);
}  // namespace hdf5

}  // namespace tessera
