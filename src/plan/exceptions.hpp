#pragma once

#include <compare>
#include <map>

#include "plan/declarations.hpp"
#include "tensor/places.hpp"
#include "transcript/verifier.hpp"

/// \file
/// Saturation: under a key with exceptions a value that leaves its range is clamped, y = clamp(rshift(A, S)), and the
/// proof lists in clear where that was and by how much: rshift(A, S) = y + e. An identity on y becomes one on y + E, E
/// the tensor of all e, and a claim says that y is the limit on e's side at all places of the list.

namespace tessera {

struct Plan;

/// A place where clamping has changed a value: rshift(A, S) is that much beyond the limit.
struct Exception {
  std::uint64_t place = 0;  // numbered by place_indices()
  std::int64_t excess = 0;
  friend auto operator<=>(const Exception&, const Exception&) = default;
};
using ExceptionLists = std::vector<std::vector<Exception>>;  // by number in Plan::clamped, ascending places
/// How long they are.
using ExceptionCounts = std::vector<std::size_t>;
ExceptionCounts counts_of(const ExceptionLists& lists);
std::size_t total(const ExceptionCounts& counts);

/// Why an honest list of the tensor does not have the entry; nullptr if it may.
const char* fault_of(const ClampedTensor& tensor, const Exception& entry);

/// What checks need of a proof's lists, on both sides.
class Exceptions {
 public:
  /// No lists.
  Exceptions() = default;
  /// `rho` combines the claims of a list. `checked`: the lists whose claims are made.
  Exceptions(const Plan& plan, const ExceptionLists& lists, const E& rho, const std::vector<bool>& checked);
  static const Exceptions& none();

  /// Whether a claim says that the list's values are at their limits: if it is not empty, or always.
  [[nodiscard]] bool checked(ClampId id) const {
    return id.known() && id.list < lists_.size() && lists_[id.list].checked;
  }
  /// E at a point of the list's tensor.
  [[nodiscard]] E excess_at(ClampId id, const TensorPoint& point) const;
  [[nodiscard]] const std::vector<Exception>& entries(ClampId id) const;
  /// The weight sum_i rho^i*onehot(place_i) of a list that is checked, and what it gives.
  [[nodiscard]] const Places& places(ClampId id) const { return lists_[id.list].places; }
  [[nodiscard]] const E& limits(ClampId id) const { return lists_[id.list].limits; }

 private:
  struct List {
    bool checked = false;
    std::vector<Exception> entries;
    Places places, excess;
    E limits;
  };
  std::vector<List> lists_;
};

/// The messages, of any key: `exceptions`, the number of all entries, if the key allows any; `places` and the challenge
/// `rho` if there are some. Throws Rejected for lists that no honest prover has. `assumed`: what the account assumes.
struct ReceivedExceptions {
  Exceptions exceptions;
  ExceptionCounts counts;
};
ReceivedExceptions receive_exceptions(VerifierView<E>& transcript, const Plan& plan,
                                      const ExceptionCounts* assumed = nullptr);
/// Throws InputError if there are more than the key allows.
Exceptions send_exceptions(ProverTranscript& transcript, const Plan& plan, const ExceptionLists& lists);

/// As many of all lists as a proof can have, and no list empty: no proof's soundness is less.
ExceptionCounts most_exceptions(const Plan& plan);
/// Lists that are longer than the key allows, for people: "4097: q 4000, x_mid 97".
std::string exceptions_text(const Plan& plan, const ExceptionCounts& counts);

/// Entries by chunk and place inside.
struct PlacedExcess {
  std::size_t inner = 0;
  std::int64_t excess = 0;
};
using ExcessByChunk = std::map<std::size_t, std::vector<PlacedExcess>>;
ExcessByChunk excess_by_chunk(const Shape& shape, const std::vector<Exception>& entries);

}  // namespace tessera
