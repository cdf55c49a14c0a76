#include "model/gguf/blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/little_endian.hpp"
#include "model/half.hpp"

namespace tessera {
namespace {

constexpr std::size_t small_block = 32;   // Q8_0, Q4_0
constexpr std::size_t super_block = 256;  // of types with K

std::uint16_t half_at(const std::uint8_t* bytes) { return read_little_endian<std::uint16_t>(bytes); }

void from_f32(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::bit_cast<float>(read_little_endian<std::uint32_t>(blocks + 4 * i));
  }
}

void from_f16(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = from_half(half_at(blocks + 2 * i));
  }
}

void from_bf16(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = from_brain(half_at(blocks + 2 * i));
  }
}

/// scale (half), 32 int8.
void from_q8_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 34, values += small_block) {
    const float scale = from_half(half_at(blocks));
    for (std::size_t i = 0; i < small_block; ++i) {
      values[i] = static_cast<float>(static_cast<std::int8_t>(blocks[2 + i])) * scale;
    }
  }
}

/// scale (half), 16 bytes: values i and i + 16 in the lower and the upper half of byte i, 8 too large.
void from_q4_0(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 18, values += small_block) {
    const float scale = from_half(half_at(blocks));
    for (std::size_t i = 0; i < small_block / 2; ++i) {
      values[i] = static_cast<float>((blocks[2 + i] & 15) - 8) * scale;
      values[i + small_block / 2] = static_cast<float>((blocks[2 + i] >> 4) - 8) * scale;
    }
  }
}

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

/// scale of scales, scale of minima (halves), 12 bytes of both, 128 bytes: 32 bytes hold two parts of 32 values.
void from_q4_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 144, values += super_block) {
    const float scale = from_half(half_at(blocks));
    const float minimum = from_half(half_at(blocks + 2));
    for (std::size_t j = 0; j < 8; ++j) {
      const ScaleAndMinimum part = scale_and_minimum(blocks + 4, j);
      const float part_scale = scale * static_cast<float>(part.scale);
      const float part_minimum = minimum * static_cast<float>(part.minimum);
      const std::uint8_t* const quants = blocks + 16 + j / 2 * 32;
      for (std::size_t i = 0; i < 32; ++i) {
        const float product = part_scale * static_cast<float>(j % 2 == 0 ? quants[i] & 15 : quants[i] >> 4);
        values[32 * j + i] = product - part_minimum;
      }
    }
  }
}

/// 128 bytes of lower four bits, 64 of upper two, 16 int8 scales of 16 values each, their scale (half); 32 too large.
/// Of each half of the values, 32 bytes of upper bits serve four runs of 32 values, whose lower bits are halves of 64.
void from_q6_k(const std::uint8_t* blocks, std::size_t count, float* values) {
  for (; count > 0; --count, blocks += 210, values += super_block) {
    const float scale = from_half(half_at(blocks + 208));
    for (std::size_t run = 0; run < 8; ++run) {
      const std::uint8_t* const low = blocks + run / 4 * 64 + run % 2 * 32;
      const std::uint8_t* const high = blocks + 128 + run / 4 * 32;
      const std::uint8_t* const scales = blocks + 192 + 2 * run;
      for (std::size_t i = 0; i < 32; ++i) {
        const int lower = run % 4 < 2 ? low[i] & 15 : low[i] >> 4;
        const int quant = (lower | (high[i] >> (2 * (run % 4)) & 3) << 4) - 32;
        const float part_scale = scale * static_cast<float>(static_cast<std::int8_t>(scales[i / 16]));
        values[32 * run + i] = part_scale * static_cast<float>(quant);
      }
    }
  }
}

constexpr std::array<GgufType, 7> types{{{0, "F32", 1, 4, from_f32},
                                         {1, "F16", 1, 2, from_f16},
                                         {30, "BF16", 1, 2, from_bf16},
                                         {8, "Q8_0", small_block, 34, from_q8_0},
                                         {2, "Q4_0", small_block, 18, from_q4_0},
                                         {12, "Q4_K", super_block, 144, from_q4_k},
                                         {14, "Q6_K", super_block, 210, from_q6_k}}};

/// By number; empty: none, or no longer one.
constexpr std::string_view all_names[] = {"F32",     "F16",    "Q4_0",    "Q4_1",  "",       "",      "Q5_0",  "Q5_1",
                                          "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
                                          "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
                                          "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16",  "",
                                          "",        "",       "TQ1_0",   "TQ2_0", "",       "",      "",      "MXFP4"};

}  // namespace

const GgufType* find_gguf_type(std::uint32_t number) {
  const auto* const found = std::ranges::find(types, number, &GgufType::number);
  return found == types.end() ? nullptr : found;
}

const GgufType& gguf_type_of(std::string_view name) { return *std::ranges::find(types, name, &GgufType::name); }

std::string gguf_type_name(std::uint32_t number) {
  const bool known = number < std::size(all_names) && !all_names[number].empty();
  return known ? std::string(all_names[number]) : "number " + std::to_string(number);
}

std::string gguf_type_names() {
  std::string names;
  for (const GgufType& type : types) {
    names += (names.empty() ? "" : &type == &types.back() ? " or " : ", ") + std::string(type.name);
  }
  return names;
}

}  // namespace tessera
