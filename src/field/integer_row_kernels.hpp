#pragma once

#include <cstddef>
#include <cstdint>

#include "field/extension.hpp"

/// \file
/// The kernels of integer_products.hpp, compiled once for every instruction set. Integers of any width are read as
/// unsigned 16-bit pieces (little endian), four to a 64-bit word, a word to a lane; `flip` changes the sign bits of
/// signed ones. Elements of E are four 32-bit limbs, a 64-bit word each. Products of a piece and a limb stay below
/// 2^48: 2^15 of them fit a lane without reduction.

namespace tessera {

/// Words in a vector.
std::size_t word_lanes();

/// Adds sums over `groups` rows, of one vector each and `stride` words apart, of limb * piece to `out`
/// [piece 0..3][limb][lane]. limbs: four words a row, the same for all lanes. Memory is asked for `groups`
/// vectors from `next` on: one after the other, it answers sooner than in the order of the sums.
void combine_rows_broadcast(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                            const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out);
/// Does what combine_rows_broadcast() does with four vectors of limbs a row.
void combine_rows_lanes(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                        const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out);

/// The coefficients, [value of a word][lane] each, of what combine_rows_broadcast() has summed for values of so many
/// pieces: 1, 2 or 4.
void join_pieces(const std::uint64_t* sums, std::size_t pieces, std::uint64_t* c0, std::uint64_t* c1);

/// Where a row's pieces lie: `count` runs of `vectors` vectors of words, `stride` words apart; at most 2^15 pieces.
struct RowPieces {
  std::size_t vectors, count, stride;
  std::uint64_t flip;
};
/// The products of as many rows as a vector has lanes, which stand one after the other in each run: the coefficients of
/// row i's at c0[i] and c1[i]. limbs: [run][vector][piece][limb][lane].
void dot_rows(const std::uint64_t* words64, RowPieces pieces, const std::uint64_t* limbs, std::uint64_t* c0,
              std::uint64_t* c1);

/// The products of one row, or of the narrower ones that fill a vector: a row has `lanes_of_row` lanes of it. c0[i] and
/// c1[i] are the coefficients of the row that lane i is of.
void dot_few_rows(const std::uint64_t* words64, RowPieces pieces, std::size_t lanes_of_row, const std::uint64_t* limbs,
                  std::uint64_t* c0, std::uint64_t* c1);

/// sums[i] += weight * value i; every canonical value is there twice.
void add_doubled_row(E weight, const std::uint64_t* doubled, std::size_t count, E* sums);

}  // namespace tessera
