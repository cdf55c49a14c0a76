#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// Instruction sets that kernels are compiled for, each with those before it.
enum class Instructions : std::uint8_t {
  scalar,  // of every processor
  avx2,    // with fused multiply-add
  avx512,  // its parts F, BW, CD, DQ, VL
  ifma,    // AVX-512 with products of 52-bit integers and of 16-bit pairs (from Ice Lake and Zen 4 on)
};

/// What TESSERA_INSTRUCTIONS calls a set.
std::string_view name_of(Instructions set);

/// The widest set that kernels use.
Instructions instructions_in_use();

/// No kernel uses a wider set from now on. Before kernels run in other threads; results do not depend on it.
void limit_instructions(Instructions widest);

/// Takes the limit from the value of TESSERA_INSTRUCTIONS. Throws InputError if it names no set.
void limit_instructions(std::string_view name);

}  // namespace tessera
