#pragma once

#include <string>
#include <vector>

#include "datasets/hdf5_image.hpp"

namespace tessera::hdf5 {

struct Link {
  std::string name;
  std::uint64_t address = undefined_address;  // of an object header
};

/// The links of a group by its link info message: hard ones alone, in dense storage, `most` of them. Throws Damaged for
/// anything else; nothing for a group that never had a link.
std::vector<Link> read_links(const Image& image, Bytes link_info, std::size_t most);

}  // namespace tessera::hdf5
