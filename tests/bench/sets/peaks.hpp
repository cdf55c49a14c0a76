#pragma once

#include <cstddef>
#include <cstdint>

/// \file
/// What a processor can do with an instruction set at best: steps of kernels on values that stay in registers, in
/// chains that do not wait for each other, and memory that is read and written from one end to the other.

namespace tessera::bench {

/// A step that kernels are made of, and below them single instructions.
enum class Step : std::uint8_t {
  field_product,      // of two elements of F, canonical
  extension_product,  // of two elements of E, added to a sum that is not reduced
  reduction,          // of one coordinate of such a sum, to a canonical element of F
  weak_reduction,     // of one coordinate, to any representative
  addition,           // of two elements of F, canonical
  kept_addition,      // of an element of F to a sum that goes on
  sevenfold,          // of an element of F, canonical
  small_product,      // of an element of F and 32 bits, canonical
  integer_product,    // of 16 and 32 bits, added to a sum of 64
  pair_product,       // two of 16 bits, added to a sum of 32
  mix,                // of four words of BLAKE2s, 80 times a block
  multiplication,     // the instruction that products of F are made of
  shift,              // of 64 bits
  instruction,        // an addition of 64 bits, of which processors do as many as of any other
};
inline constexpr std::size_t step_count = static_cast<std::size_t>(Step::instruction) + 1;

/// Values that stand side by side in a vector, each of which a step is done for.
std::size_t lanes_of(Step step);
/// Does a step `count` times in each of `chains` chains.
void repeat(Step step, std::size_t chains, std::size_t count);
inline constexpr std::size_t chain_counts[] = {1, 2, 4, 6, 8, 12};

/// The instructions that a step is written with, for one vector.
struct InstructionCounts {
  double multiplications = 0;
  double shifts = 0;
  double all = 0;
};
/// Of the steps up to `addition`, with both operands changing. Nothing for the others.
InstructionCounts instructions_of(Step step);

/// Words read, and written so that caches keep them or so that they need not.
void read_words(const std::uint64_t* words, std::size_t count);
void write_words(std::uint64_t* words, std::size_t count);
void stream_words(std::uint64_t* words, std::size_t count);

}  // namespace tessera::bench
