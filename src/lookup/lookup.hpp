#pragma once

#include <functional>
#include "cluster/communicator.hpp"
#include "lookup/leaf_integers.hpp"
#include "tensor/chunked_tensor.hpp"
#include "tensor/multilinear.hpp"
#include "transcript/hiding_verifier.hpp"

namespace tessera {

/// A look-up table: rows (a, b) with a = 0 .. 2^log_size - 1 the row number and b = values[a], |b| < 2^31 (range
/// tables: no b). Leaves of table `id` (its number in the structure, from 1) are alpha - (a + lambda*b + lambda^2*id).
struct LookupTable {
  std::string name;
  unsigned log_size = 0;
  std::vector<std::int64_t> values;  // empty: range table {0 .. 2^log_size - 1}
};

/// A looked-up column: every value of a tensor of this shape is a row of the table.
struct LookupColumn {
  std::string name;
  Shape shape;
  std::size_t table = 0;  // index into LookupStructure::tables
};

/// What the verifier fixes before the proof: tables and columns, a function of (key, s, G). All look-ups of a proof are
/// in one instance, shared among the ranks, whose prover needs 4 bytes a look-up for the tree (64 a node, nodes kept
/// from height 5 on; as many while lower levels are bound) and the integers where they are not in memory anyway: 2
/// bytes, 4 in tables of more than 2^16 rows, and 4 more if the table has values. How many there may be is what
/// soundness says.
///
/// Leaves: the columns (numerator 1) and one column per table (numerator -multiplicity), each in an aligned slot of
/// 2^bits leaves, in the flat order of its shape. Slots are assigned by size descending, then columns in order, then
/// tables in order; absent chunks and unused slots are the neutral fraction 0/1.
struct LookupStructure {
  std::vector<LookupTable> tables;
  std::vector<LookupColumn> columns;

  /// First leaf of each column's slot, then of each table's, and log2 of the padded number of leaves.
  struct Slots {
    std::vector<std::size_t> column;
    std::vector<std::size_t> table;
    unsigned log_leaves = 0;
  };
  [[nodiscard]] Slots slots() const;
  /// Look-ups plus table rows (present leaves).
  [[nodiscard]] std::size_t present_leaves() const;
  /// Proof-of-work bits before (alpha, lambda): max(8, 101 - floor(128 - log2(4*2^log_leaves))).
  [[nodiscard]] unsigned grinding_bits() const;
};

/// What the look-up leaves to prove: values of every column and multiplicity at one common point. Column c's flat point
/// is the last `columns[c].shape.bits()` coordinates of `point`.
template <class S>
struct LookupClaimsOf {
  Point point;                  // log_leaves coordinates, most significant first
  std::vector<S> a;             // per column
  std::vector<S> b;             // per column; zero for range tables
  std::vector<S> multiplicity;  // per table

  [[nodiscard]] Point column_point(const Shape& shape) const { return {point.end() - shape.bits(), point.end()}; }
};
using LookupClaims = LookupClaimsOf<E>;

/// LogUp-GKR: sum over the leaves of numerator/denominator is zero, denominators non-zero.
///
///   | # | from | message                                                                        |
///   | 0 | P    | work (grinding), then V: alpha, lambda                                           |
///   | 1 | P    | root: q (numerator is 0); V checks q != 0                                        |
///   | 2 | P/V  | per level: V: tau, then eq sum-check of p0*q1 + p1*q0 + tau*q0*q1            |
///   | 3 | P    | per level: p0,p1,q0,q1 of the two children at the level's point; V: merge    |
///   | 4 | P    | leaves: per column a (and b where its table has one), then the multiplicities    |
/// A node's children differ in the last variable of the lower level, so a chunk pairs its inner bits first.
/// Soundness: 4*N/|E| with N = 2^log_leaves, minus grinding.
template <class S>
LookupClaimsOf<S> verify_lookup(VerifierView<S>& transcript, const LookupStructure& structure);

/// Fills a and b (each 2^inner_bits values; b only for tables with values, else empty) of a chunk held by this rank.
/// Called from several threads at once.
using LookupReader = std::function<void(std::size_t chunk, std::span<std::uint32_t> a, std::span<std::int32_t> b)>;

/// The prover's data of one column.
struct LookupColumnData {
  Ownership ownership;
  LookupReader read;
  /// Where integers of a chunk held by this rank lie in memory, the same that `read` gives, for as long as the proof
  /// takes: those are not copied. None: nowhere.
  std::function<LeafIntegers(std::size_t chunk)> in_place = {};
};

/// The integers of a chunk held by this rank: a, and b unless it is empty.
void read_chunk(const LookupColumnData& column, std::size_t chunk, std::span<std::uint32_t> a,
                std::span<std::int32_t> b);

/// What to do with a looked-up value that is no row of its table.
enum class OutOfRange : std::uint8_t { refuse, skip };

/// Occurrences of every table row over all columns and ranks (the same on every rank): multiplicity[table][row].
/// Throws std::logic_error unless every a < 2^log_size and b matches the table: the trace is checked before. Tests of
/// lying provers skip such values instead.
std::vector<std::vector<std::int64_t>> count_multiplicities(const LookupStructure& structure,
                                                            std::span<const LookupColumnData> columns,
                                                            Communicator& comm,
                                                            OutOfRange out_of_range = OutOfRange::refuse);

/// Prover's side of verify_lookup; collective.
LookupClaims prove_lookup(ProverTranscript& transcript, const LookupStructure& structure,
                          std::span<const LookupColumnData> columns,
                          const std::vector<std::vector<std::int64_t>>& multiplicities, Communicator& comm);

}  // namespace tessera
