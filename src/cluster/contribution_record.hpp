#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/communicator.hpp"

namespace tessera {

/// Digest of the bytes that are handed over in a call. Faults are no adversaries: eight bytes tell them, of any hash
/// that is fast and equal in all processes.
std::uint64_t contribution_digest(std::span<const std::byte> bytes);

/// What one rank handed over in the collective calls of a proof: a digest of its part of each call, in order. The same
/// share of the same work gives the same record, whoever does it.
struct ContributionRecord {
  std::vector<std::string> scopes;
  std::vector<std::uint32_t> scope_of;  // by call: number in `scopes`
  std::vector<std::uint64_t> digests;   // by call
  bool whole = true;                    // false: a part of the work was taken from an earlier job

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& scopes& scope_of& digests& whole;
  }
};

/// A call in which two records of the same share differ.
struct Difference {
  std::uint64_t call = 0;  // of the later record
  std::string scope;
};

/// The first call that differs; nothing if none does. Where one record ends sooner, as of a proof that failed, what
/// both have counts; scopes that a record which is not whole has only in part are left out.
std::optional<Difference> first_difference(const ContributionRecord& earlier, const ContributionRecord& later);

/// Where two proofs of the same statement part.
struct Parting {
  std::string scope;        // of the first call in which a share differs
  std::vector<int> shares;  // that differ in that call; later ones differ everywhere, as challenges do
  std::vector<int> silent;  // that have handed over nothing in it, so that nobody knows
};

/// Compares two proofs share by share: `earlier` is the record of share rank(), `later` that of share (rank() + 1) mod
/// size(). Nothing if no share differs. The same on every rank. Collective.
std::optional<Parting> compare_turned(const ContributionRecord& earlier, const ContributionRecord& later,
                                      Communicator& comm);

/// The ranks that may have computed wrongly if both proofs are wrong: share p was rank p's, then rank p - 1's. Those
/// that explain most of the shares.
std::vector<int> common_suspects(const std::vector<int>& shares, int ranks);

}  // namespace tessera
