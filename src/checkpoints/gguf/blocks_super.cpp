#include <bit>

#include "checkpoints/gguf/block_decoders.hpp"

namespace tessera::gguf_blocks {
namespace {

struct ScaleAndMinimum {
  int scale = 0, minimum = 0;
};

/// The 6-bit scale and minimum of part j < 8: those of the first four in a byte each, whose upper two bits are the
/// upper ones of the last four.
ScaleAndMinimum scale_and_minimum(const std::uint8_t* packed, std::size_t j) {
  if (j < 4) {
    return {packed[j] & 63, packed[j + 4] & 63};
  }
  return {(packed[j + 4] & 15) | packed[j - 4] >> 6 << 4, packed[j + 4] >> 4 | packed[j] >> 6 << 4};
}

/// Number i of 64 bytes of 2-bit numbers: of each half of the numbers, 32 bytes hold four runs of 32.
int pair_of_bits(const std::uint8_t* bytes, std::size_t i) {
  return bytes[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
}

/// Number i of 128 bytes of 4-bit numbers: 32 bytes hold two runs of 32.
int four_bits(const std::uint8_t* bytes, std::size_t i) { return bytes[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15; }

/// Half j of a byte, the lower one first, of bytes.
/// Q4_K and Q5_K: parts of 32 numbers with scales and minima; `number` gives each.
template <class Number>
void from_parts_of_32(const std::uint8_t* block, float* values, Number&& number) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  for (std::size_t j = 0; j < 8; ++j) {
    const ScaleAndMinimum part = scale_and_minimum(block + 4, j);
    const float part_scale = scale * static_cast<float>(part.scale);
    const float part_minimum = minimum * static_cast<float>(part.minimum);
    for (std::size_t i = 32 * j; i < 32 * j + 32; ++i) {
      const float product = part_scale * static_cast<float>(number(i));
      values[i] = product - part_minimum;
    }
  }
}

}  // namespace

/// 16 bytes of a scale and a minimum of 4 bits, 64 bytes of numbers, scale of scales, scale of minima (halves).
void from_q2_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 84, values += super_block) {
    const float scale = half_at(blocks + 80), minimum = half_at(blocks + 82);
    for (std::size_t i = 0; i < super_block; ++i) {
      const float part_scale = scale * static_cast<float>(blocks[i / 16] & 15);
      const float part_minimum = minimum * static_cast<float>(blocks[i / 16] >> 4);
      const float product = part_scale * static_cast<float>(pair_of_bits(blocks + 16, i));
      values[i] = product - part_minimum;
    }
  }
}

/// 32 bytes of third bits, which are 0 where 4 is to be taken off, 64 bytes of the others, 12 bytes of 16 scales of 6
/// bits, 32 too large: 8 bytes of lower halves, then 4 of upper bits; their scale (half).
void from_q3_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 110, values += super_block) {
    const float scale = half_at(blocks + 108);
    const std::uint8_t* const scales = blocks + 96;
    for (std::size_t i = 0; i < super_block; ++i) {
      const std::size_t part = i / 16;
      const int lower = scales[part % 8] >> part / 8 * 4 & 15, upper = scales[8 + part % 4] >> part / 4 * 2 & 3;
      const float part_scale = scale * static_cast<float>((lower | upper << 4) - 32);
      const int above = blocks[i % 32] >> i / 32 & 1;
      values[i] = part_scale * static_cast<float>(pair_of_bits(blocks + 32, i) - (above != 0 ? 0 : 4));
    }
  }
}

/// scale of scales, scale of minima (halves), 12 bytes of both, 128 bytes of numbers.
void from_q4_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 144, values += super_block) {
    from_parts_of_32(blocks, values, [&](std::size_t i) { return four_bits(blocks + 16, i); });
  }
}

/// scale of scales, scale of minima (halves), 12 bytes of both, 32 bytes of fifth bits, 128 bytes of numbers.
void from_q5_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 176, values += super_block) {
    from_parts_of_32(blocks, values, [&](std::size_t i) {
      return four_bits(blocks + 48, i) | (blocks[16 + i % 32] >> i / 32 & 1) << 4;
    });
  }
}

/// 128 bytes of lower four bits, 64 of upper two, 16 int8 scales of 16 values each, their scale (half); 32 too large.
/// Of each half of the values, 64 bytes of lower bits serve four runs of 32 values, by halves.
void from_q6_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 210, values += super_block) {
    const float scale = half_at(blocks + 208);
    for (std::size_t i = 0; i < super_block; ++i) {
      const int lower = blocks[i / 128 * 64 + i % 64] >> i / 64 % 2 * 4 & 15;
      const int number = (lower | pair_of_bits(blocks + 128, i) << 4) - 32;
      const float part_scale = scale * static_cast<float>(static_cast<std::int8_t>(blocks[192 + i / 16]));
      values[i] = part_scale * static_cast<float>(number);
    }
  }
}

/// scale (float), 256 int8, 16 int16 sums of them.
void from_q8_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 292, values += super_block) {
    const auto scale = std::bit_cast<float>(read_little_endian<std::uint32_t>(blocks));
    for (std::size_t i = 0; i < super_block; ++i) {
      values[i] = static_cast<float>(static_cast<std::int8_t>(blocks[4 + i])) * scale;
    }
  }
}

/// scale of scales (half), 2 bytes of upper bits and 4 of lower halves of 8 scales, 32 too large; of each part of 32
/// values, 16 bytes of numbers of 16 values, its first half the lower ones.
void from_iq4_xs(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 136, values += super_block) {
    const float scale = half_at(blocks);
    const auto upper = read_little_endian<std::uint16_t>(blocks + 2);
    for (std::size_t i = 0; i < super_block; ++i) {
      const std::size_t part = i / 32;
      const float part_scale =
          scale *
          static_cast<float>((static_cast<int>(half_byte(blocks + 4, part)) | (upper >> 2 * part & 3) << 4) - 32);
      const int number = blocks[8 + 16 * part + i % 16] >> i / 16 % 2 * 4 & 15;
      values[i] = part_scale * static_cast<float>(iq4_values[number]);
    }
  }
}

/// 52 bytes of numbers of three values, then their scale (half). Digit n of a byte is the upper part of three times the
/// byte's product with 3^n: of 32 bytes the five digits, of 16 bytes the five, of 4 bytes four.
void from_tq1_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 54) {
    const float scale = half_at(blocks + 52);
    const std::uint8_t* bytes = blocks;
    for (const auto& [size, digits] : {std::pair<std::size_t, int>{32, 5}, {16, 5}, {4, 4}}) {
      std::uint8_t power = 1;
      for (int digit = 0; digit < digits; ++digit, power = static_cast<std::uint8_t>(power * 3)) {
        for (std::size_t i = 0; i < size; ++i) {
          const auto product = static_cast<std::uint8_t>(bytes[i] * power);
          *values++ = static_cast<float>((product * 3 >> 8) - 1) * scale;
        }
      }
      bytes += size;
    }
  }
}

/// 64 bytes of numbers that are 1 too large, their scale (half).
void from_tq2_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 66, values += super_block) {
    const float scale = half_at(blocks + 64);
    for (std::size_t i = 0; i < super_block; ++i) {
      values[i] = static_cast<float>(pair_of_bits(blocks, i) - 1) * scale;
    }
  }
}

}  // namespace tessera::gguf_blocks
