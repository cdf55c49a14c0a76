#pragma once

#include <omp.h>

#include <random>
#include "lookup/lookup.hpp"

namespace tessera::test {

/// A look-up with the values of all its columns in memory, chunk after chunk.
struct Instance {
  LookupStructure structure;
  std::vector<std::vector<std::uint32_t>> a;
  std::vector<std::vector<std::int32_t>> b;  // empty for range tables
  std::vector<Ownership> ownership;

  void add_table(std::string name, unsigned log_size, std::vector<std::int64_t> values = {}) {
    structure.tables.push_back({std::move(name), log_size, std::move(values)});
  }
  /// A column of random rows of the table.
  void add_column(const Shape& shape, std::size_t table, Ownership owner, std::mt19937_64& random) {
    const LookupTable& rows = structure.tables[table];
    structure.columns.push_back({"column", shape, table});
    ownership.push_back(owner);
    a.emplace_back();
    b.emplace_back();
    for (std::size_t i = 0; i < shape.chunk_count() << shape.inner_bits(); ++i) {
      a.back().push_back(static_cast<std::uint32_t>(random() & ((std::uint64_t{1} << rows.log_size) - 1)));
      if (!rows.values.empty()) {
        b.back().push_back(static_cast<std::int32_t>(rows.values[a.back().back()]));
      }
    }
  }

  [[nodiscard]] std::vector<LookupColumnData> data() const {
    std::vector<LookupColumnData> result;
    for (std::size_t c = 0; c < a.size(); ++c) {
      const std::size_t size = structure.columns[c].shape.chunk_size();
      result.push_back({ownership[c], [this, c, size](std::size_t chunk, std::span<std::uint32_t> out_a,
                                                      std::span<std::int32_t> out_b) {
                          std::copy_n(a[c].begin() + static_cast<std::ptrdiff_t>(chunk * size), size, out_a.begin());
                          if (!out_b.empty()) {
                            std::copy_n(b[c].begin() + static_cast<std::ptrdiff_t>(chunk * size), size, out_b.begin());
                          }
                        }});
      if (c % 2 == 1) {  // the others are copied; of the third of four only a
        result.back().in_place = [this, c, size](std::size_t chunk) {
          const bool with_b = !b[c].empty() && c % 4 != 3;
          return LeafIntegers{.wide = a[c].data() + chunk * size,
                              .wide_b = with_b ? b[c].data() + chunk * size : nullptr};
        };
      }
    }
    return result;
  }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> multiplicities() const {
    SelfCommunicator self;
    return count_multiplicities(structure, data(), self);
  }
};

struct Proof {
  std::vector<std::uint8_t> payload;
  LookupClaims claims;
};

inline Digest seed_of(std::uint8_t n) { return blake2s(std::span(&n, 1)); }

inline Proof prove(const Instance& instance, const std::vector<std::vector<std::int64_t>>& multiplicities,
                   Communicator& comm) {
  ProverTranscript transcript(seed_of(7));
  LookupClaims claims = prove_lookup(transcript, instance.structure, instance.data(), multiplicities, comm);
  return {transcript.payload(), std::move(claims)};
}

inline Proof prove(const Instance& instance) {
  SelfCommunicator self;
  return prove(instance, instance.multiplicities(), self);
}

inline LookupClaims verify(const LookupStructure& structure, std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(seed_of(7), payload);
  LookupClaims claims = verify_lookup(transcript, structure);
  transcript.finish();
  return claims;
}

/// Why the verifier rejects; empty if it accepts.
inline std::string rejection(const LookupStructure& structure, std::span<const std::uint8_t> payload) {
  try {
    verify(structure, payload);
  } catch (const Rejected& rejected) {
    return rejected.what();
  }
  return {};
}

/// Two range tables, a pair table with negative values and zero rows, columns of many sizes.
inline Instance mixed_instance(unsigned seed, std::size_t heads = 3) {
  std::mt19937_64 random(seed);
  Instance instance;
  instance.add_table("R5", 5);
  std::vector<std::int64_t> values(512);
  for (std::size_t i = 0; i < 256; ++i) {
    values[i] = static_cast<std::int64_t>(random() % 70000) - 35000;
  }
  instance.add_table("pairs", 9, values);
  instance.add_table("R8", 8);
  const Shape features({Dimension::outer(2), Dimension{96, 5}, Dimension{32, 5}});
  const Shape scores({Dimension::outer(2), Dimension::outer(heads), Dimension{16, 3}, Dimension{16, 3}},
                     Presence::causal);
  instance.add_column(features, 2, {1}, random);
  instance.add_column(scores, 1, {1}, random);
  instance.add_column(Shape({Dimension::outer(2), Dimension{32, 5}}), 0, {}, random);
  instance.add_column(Shape({Dimension::outer(5)}), 2, {}, random);
  instance.add_column(Shape({Dimension::outer(3), Dimension{8, 2}}), 1, {0}, random);
  instance.add_column(Shape({Dimension::whole(1)}), 0, {}, random);
  instance.add_column(features, 1, {0}, random);
  return instance;
}

}  // namespace tessera::test
