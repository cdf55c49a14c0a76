#pragma once

#include <span>

#include "architecture/ownership.hpp"
#include "cli/json_output.hpp"

namespace tessera::cli {

/// Who owns what, as inspect and plan write it.
inline Json ownership_json(std::span<const OwnedDimension> dimensions) {
  Json list = Json::array();
  for (const OwnedDimension& dimension : dimensions) {
    list.push_back({{"dimension", dimension.name},
                    {"tensors", dimension.tensors},
                    {"length", dimension.length},
                    {"chunk", dimension.chunk},
                    {"first", dimension.first}});
  }
  return list;
}

}  // namespace tessera::cli
