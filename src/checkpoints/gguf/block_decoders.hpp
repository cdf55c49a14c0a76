#pragma once

#include <cstddef>
#include <cstdint>

#include "base/little_endian.hpp"
#include "checkpoints/half.hpp"

namespace tessera::gguf_blocks {

constexpr std::size_t small_block = 32;   // values of a block of Q4_0 and its kind
constexpr std::size_t super_block = 256;  // of types with K, IQ and TQ types

/// Number j of four bits.
inline unsigned half_byte(const std::uint8_t* bytes, std::size_t j) { return bytes[j / 2] >> j % 2 * 4 & 15U; }
inline float half_at(const std::uint8_t* bytes) { return from_half(read_little_endian<std::uint16_t>(bytes)); }

/// `count` blocks of the type to floats, with every operation rounded to float32 in the order in which ggml does it.
using Decoder = void(const std::uint8_t* blocks, std::size_t count, float* values);

Decoder from_f32, from_f16, from_bf16;
Decoder from_q4_0, from_q4_1, from_q5_0, from_q5_1, from_q8_0, from_q8_1, from_iq4_nl, from_mxfp4, from_nvfp4;
Decoder from_q2_k, from_q3_k, from_q4_k, from_q5_k, from_q6_k, from_q8_k, from_iq4_xs, from_tq1_0, from_tq2_0;
Decoder from_iq1_s, from_iq1_m, from_iq2_xxs, from_iq2_xs, from_iq2_s, from_iq3_xxs, from_iq3_s;

/// What the 4-bit numbers of IQ4_NL and IQ4_XS stand for.
constexpr std::int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

}  // namespace tessera::gguf_blocks
