#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "parameters/table.hpp"

namespace tessera {

/// Rows or columns of a parameter that a place of equalisation scales, and the channel of each.
struct EqualisedSide {
  ParameterId id;
  bool columns = false;  // else rows
  bool divided = false;  // else multiplied
  std::function<std::size_t(std::size_t)> channel;
};

/// The sides of a place that this model has.
std::vector<EqualisedSide> equalised_sides(std::string_view place, const ModelShape& shape);

/// Channels of one block, or of the place if it has none.
std::size_t equalised_channels(const EqualisedPlace& place, const ModelShape& shape);

}  // namespace tessera
