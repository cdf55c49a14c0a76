#include <bit>

#include "checkpoints/gguf/block_decoders.hpp"
#include "checkpoints/gguf/grids.hpp"

namespace tessera::gguf_blocks {
namespace {

constexpr std::size_t groups = 32;  // of eight values

/// What the coordinates of a grid's points stand for.
constexpr float iq2_values[3] = {8, 25, 43};
constexpr float iq3_xxs_values[8] = {4, 12, 20, 28, 36, 44, 52, 62};

/// Seven bits of signs; the eighth makes their number even.
unsigned eight_signs(unsigned seven) { return seven | static_cast<unsigned>(std::popcount(seven) % 2) << 7U; }

/// Half j of a byte, the lower one first, of bytes.
/// Eight values: those of coordinates of a point, or of two points, times a scale, negative where a bit is set.
void signed_values(float scale, const float (&magnitudes)[8], unsigned signs, float* values) {
  for (std::size_t i = 0; i < 8; ++i) {
    const float product = scale * magnitudes[i];
    values[i] = (signs >> i & 1U) != 0 ? -product : product;
  }
}

void signed_point(float scale, const Point8& point, unsigned signs, float* values) {
  float magnitudes[8];
  for (std::size_t i = 0; i < 8; ++i) {
    magnitudes[i] = iq2_values[point[i]];
  }
  signed_values(scale, magnitudes, signs, values);
}

/// Eight values of a grid of -1, 0 and 1, all moved by an eighth.
void moved_point(float scale, const Point8& point, bool down, float* values) {
  for (std::size_t i = 0; i < 8; ++i) {
    values[i] = scale * (static_cast<float>(point[i] - 1) + (down ? -0.125F : 0.125F));
  }
}

}  // namespace

/// scale (half); of each four groups, four numbers of points (bytes) and a word: four times seven signs, scale of 4
/// bits.
void from_iq2_xxs(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq2_xxs_grid();
  for (; count > 0; --count, blocks += 66) {
    const float scale = half_at(blocks);
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const std::uint8_t* const numbers = blocks + 2 + group / 4 * 8;
      const auto word = read_little_endian<std::uint32_t>(numbers + 4);
      const float part_scale = scale * (0.5F + static_cast<float>(word >> 28U)) * 0.25F;
      signed_point(part_scale, grid[numbers[group % 4]], eight_signs(word >> group % 4 * 7 & 127U), values);
    }
  }
}

/// scale (half), 32 numbers of points of 9 bits with seven signs, 16 scales of 4 bits.
void from_iq2_xs(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq2_xs_grid();
  for (; count > 0; --count, blocks += 74) {
    const float scale = half_at(blocks);
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const auto word = read_little_endian<std::uint16_t>(blocks + 2 + 2 * group);
      const float part_scale = scale * (0.5F + static_cast<float>(half_byte(blocks + 66, group / 2))) * 0.25F;
      signed_point(part_scale, grid[word & 511U], eight_signs(word >> 9U), values);
    }
  }
}

/// scale (half), 32 bytes of lower bits of numbers of points, 32 of signs, 8 of upper two bits, 16 scales of 4 bits.
void from_iq2_s(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq2_s_grid();
  for (; count > 0; --count, blocks += 82) {
    const float scale = half_at(blocks);
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const unsigned upper = blocks[66 + group / 4] >> group % 4 * 2 & 3U;
      const float part_scale = scale * (0.5F + static_cast<float>(half_byte(blocks + 74, group / 2))) * 0.25F;
      signed_point(part_scale, grid[blocks[2 + group] | upper << 8U], blocks[34 + group], values);
    }
  }
}

/// scale (half), 64 numbers of points of four coordinates, of each four groups a word as of IQ2_XXS.
void from_iq3_xxs(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq3_xxs_grid();
  for (; count > 0; --count, blocks += 98) {
    const float scale = half_at(blocks);
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const auto word = read_little_endian<std::uint32_t>(blocks + 66 + group / 4 * 4);
      const float part_scale = scale * (0.5F + static_cast<float>(word >> 28U)) * 0.5F;
      float magnitudes[8];
      for (std::size_t i = 0; i < 8; ++i) {
        magnitudes[i] = iq3_xxs_values[grid[blocks[2 + 2 * group + i / 4]][i % 4]];
      }
      signed_values(part_scale, magnitudes, eight_signs(word >> group % 4 * 7 & 127U), values);
    }
  }
}

/// scale (half), 64 bytes of lower bits of numbers of points of four coordinates, 8 of ninth bits, 32 of signs, 8
/// scales of 4 bits.
void from_iq3_s(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq3_s_grid();
  for (; count > 0; --count, blocks += 110) {
    const float scale = half_at(blocks);
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const float part_scale = scale * static_cast<float>(1 + 2 * half_byte(blocks + 106, group / 4));
      float magnitudes[8];
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t number = 2 * group + i / 4;
        const unsigned upper = blocks[66 + number / 8] >> number % 8 & 1U;
        magnitudes[i] = static_cast<float>(1 + 2 * grid[blocks[2 + number] | upper << 8U][i % 4]);
      }
      signed_values(part_scale, magnitudes, blocks[74 + group], values);
    }
  }
}

/// scale (half), 32 bytes of lower bits of numbers of points; of each four groups a word of four times three upper
/// bits, a scale of 3 bits and the direction of their move.
void from_iq1_s(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq1_grid();
  for (; count > 0; --count, blocks += 50) {
    const float scale = half_at(blocks);
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const unsigned word = read_little_endian<std::uint16_t>(blocks + 34 + group / 4 * 2);
      const float part_scale = scale * static_cast<float>(2 * (word >> 12U & 7U) + 1);
      const unsigned upper = word >> group % 4 * 3 & 7U;
      moved_point(part_scale, grid[blocks[2 + group] | upper << 8U], (word & 0x8000U) != 0, values);
    }
  }
}

/// 32 bytes of lower bits of numbers of points, 32 times three upper bits and the direction of the move, four words of
/// four times 3 bits of scales, whose upper four bits together are the scale of scales (half).
void from_iq1_m(const std::uint8_t* blocks, std::size_t count, float* values) {
  const auto& grid = iq1_grid();
  for (; count > 0; --count, blocks += 56) {
    unsigned words[4], bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      words[i] = read_little_endian<std::uint16_t>(blocks + 48 + 2 * i);
      bits |= words[i] >> 12U << 4 * i;
    }
    const float scale = from_half(static_cast<std::uint16_t>(bits));
    for (std::size_t group = 0; group < groups; ++group, values += 8) {
      const std::size_t part = group / 2;
      const float part_scale = scale * static_cast<float>(2 * (words[part / 4] >> part % 4 * 3 & 7U) + 1);
      const unsigned upper = half_byte(blocks + 32, group);
      moved_point(part_scale, grid[blocks[group] | (upper & 7U) << 8U], (upper & 8U) != 0, values);
    }
  }
}

}  // namespace tessera::gguf_blocks
