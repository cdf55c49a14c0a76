#include <bit>

#include "checkpoints/gguf/block_decoders.hpp"

namespace tessera::gguf_blocks {
namespace {

/// 4-bit floats of one sign, two exponent bits and one mantissa bit, doubled.
constexpr std::int8_t fp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Number i of 16 bytes: numbers i and i + 16 are the lower and the upper half of byte i.
unsigned nibble(const std::uint8_t* bytes, std::size_t i) {
  return i < small_block / 2 ? bytes[i] & 15U : bytes[i - small_block / 2] >> 4U;
}

/// Number i of 16 bytes with a fifth bit, which is bit i of a word of 32.
unsigned with_fifth_bit(const std::uint8_t* bytes, std::uint32_t high, std::size_t i) {
  return nibble(bytes, i) | (high >> i & 1U) << 4U;
}

/// 2^(exponent - 128): half of the power, for doubled values.
float half_power(std::uint8_t exponent) {
  return std::bit_cast<float>(exponent < 2 ? 0x00200000U << exponent : (exponent - 1U) << 23U);
}

/// Half of a float of four exponent bits (bias 7) and three mantissa bits; 0x7F is nothing. The sign is passed over.
float half_of_e4m3(std::uint8_t bits) {
  const unsigned exponent = bits >> 3U & 15U, mantissa = bits & 7U;
  if (bits == 0 || bits == 0x7F) {
    return 0;
  }
  const float value = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9F
                                    : static_cast<float>(8 + mantissa) * std::bit_cast<float>((exponent + 117U) << 23U);
  return value * 0.5F;
}

}  // namespace

void from_f32(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::bit_cast<float>(read_little_endian<std::uint32_t>(blocks + 4 * i));
  }
}

void from_f16(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = half_at(blocks + 2 * i);
  }
}

void from_bf16(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = from_brain(read_little_endian<std::uint16_t>(blocks + 2 * i));
  }
}

/// scale (half), 16 bytes of numbers that are 8 too large.
void from_q4_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 18, values += small_block) {
    const float scale = half_at(blocks);
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(static_cast<int>(nibble(blocks + 2, i)) - 8) * scale;
    }
  }
}

/// scale, minimum (halves), 16 bytes.
void from_q4_1(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 20, values += small_block) {
    const float scale = half_at(blocks), minimum = half_at(blocks + 2);
    for (std::size_t i = 0; i < small_block; ++i) {
      const float product = static_cast<float>(nibble(blocks + 4, i)) * scale;
      values[i] = product + minimum;
    }
  }
}

/// scale (half), 32 fifth bits, 16 bytes of numbers that are 16 too large.
void from_q5_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 22, values += small_block) {
    const float scale = half_at(blocks);
    const auto high = read_little_endian<std::uint32_t>(blocks + 2);
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(static_cast<int>(with_fifth_bit(blocks + 6, high, i)) - 16) * scale;
    }
  }
}

/// scale, minimum (halves), 32 fifth bits, 16 bytes.
void from_q5_1(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 24, values += small_block) {
    const float scale = half_at(blocks), minimum = half_at(blocks + 2);
    const auto high = read_little_endian<std::uint32_t>(blocks + 4);
    for (std::size_t i = 0; i < small_block; ++i) {
      const float product = static_cast<float>(with_fifth_bit(blocks + 8, high, i)) * scale;
      values[i] = product + minimum;
    }
  }
}

/// scale (half), 32 int8.
void from_q8_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 34, values += small_block) {
    const float scale = half_at(blocks);
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(static_cast<std::int8_t>(blocks[2 + i])) * scale;
    }
  }
}

/// scale, its product with the sum of the numbers (halves), 32 int8.
void from_q8_1(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 36, values += small_block) {
    const float scale = half_at(blocks);
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(static_cast<std::int8_t>(blocks[4 + i])) * scale;
    }
  }
}

/// scale (half), 16 bytes of numbers of 16 values.
void from_iq4_nl(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 18, values += small_block) {
    const float scale = half_at(blocks);
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(iq4_values[nibble(blocks + 2, i)]) * scale;
    }
  }
}

/// exponent of a power of two, 16 bytes of 4-bit floats.
void from_mxfp4(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 17, values += small_block) {
    const float scale = half_power(blocks[0]);
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(fp4_values[nibble(blocks + 1, i)]) * scale;
    }
  }
}

/// Four 8-bit scales, 8 bytes of 4-bit floats for each: values i and i + 8 are the lower and the upper half of byte i.
void from_nvfp4(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 36) {
    for (std::size_t part = 0; part < 4; ++part, values += 16) {
      const float scale = half_of_e4m3(blocks[part]);
      const std::uint8_t* const numbers = blocks + 4 + 8 * part;
      for (std::size_t i = 0; i < 8; ++i) {
        values[i] = static_cast<float>(fp4_values[numbers[i] & 15]) * scale;
        values[i + 8] = static_cast<float>(fp4_values[numbers[i] >> 4]) * scale;
      }
    }
  }
}

}  // namespace tessera::gguf_blocks
