#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera {

/// Instruction sets that kernels are compiled for, each with those before it that are of the same architecture.
enum class Instructions : std::uint8_t {
  scalar,  // of every processor
  neon,    // of 64-bit Arm, with fused multiply-add
  avx2,    // of x86-64 as the following ones, with fused multiply-add
  avx512,  // its parts F, BW, CD, DQ, VL
  ifma,    // AVX-512 with products of 52-bit integers and of 16-bit pairs (from Ice Lake and Zen 4 on)
};

/// What TESSERA_INSTRUCTIONS can be where this runs: the sets up to the one in use, from the narrowest to the widest.
std::vector<std::string_view> instruction_names();

/// The widest set that kernels use.
Instructions instructions_in_use();

/// No kernel uses a wider set from now on. Before kernels run in other threads; results do not depend on it.
void limit_instructions(Instructions widest);

/// Takes the limit from the value of TESSERA_INSTRUCTIONS. Throws InputError if it names no set of this architecture.
void limit_instructions(std::string_view name);

}  // namespace tessera
