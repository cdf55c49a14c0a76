#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tessera {

/// Points of eight coordinates 0, 1, 2, or of four coordinates 0 to 7.
using Point8 = std::array<std::uint8_t, 8>;
using Point4 = std::array<std::uint8_t, 4>;

/// The grids that IQ types number their values by: of IQ1_S and IQ1_M (2048 points), IQ2_XXS (256), IQ2_XS (512),
/// IQ2_S (1024), IQ3_XXS (256) and IQ3_S (512). Safe to call from several threads.
const std::vector<Point8>& iq1_grid();
const std::vector<Point8>& iq2_xxs_grid();
const std::vector<Point8>& iq2_xs_grid();
const std::vector<Point8>& iq2_s_grid();
const std::vector<Point4>& iq3_xxs_grid();
const std::vector<Point4>& iq3_s_grid();

}  // namespace tessera
