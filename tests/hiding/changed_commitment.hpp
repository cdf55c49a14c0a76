#pragma once

#include <deque>
#include <stdexcept>

#include "hiding_commitment.hpp"
#include "protocol/renewal.hpp"

namespace tessera::test {

inline RenewalSide side_of(const HidingCommitment& commitment) {
  return {commitment.tensors, commitment.codeword.get()};
}

inline Proof renew(const HidingCommitment& before, const HidingCommitment& after, Communicator& comm,
                   std::string_view seed = "renewal") {
  return prove_renewal(before.key, after.key, {side_of(before), side_of(after)}, seed_of(seed), {}, comm);
}

/// A commitment to other parameters than the model's, and what it commits to in the place of one tensor.
struct ChangedCommitment {
  std::deque<ChunkedTensor<std::int16_t>> narrow;
  std::deque<ChunkedTensor<std::int64_t>> wide;
  HidingCommitment made;

  /// The first or the last value of this tensor is one more.
  ChangedCommitment(const Model& model, std::uint64_t proofs, std::string_view secret_name, Communicator& comm,
                    std::size_t tensor, bool last)
      : made(model, proofs, secret_name, comm,
             [&](std::vector<IntegerTensor>& views) { views[tensor] = changed(views[tensor], last); }) {}

 private:
  IntegerTensor changed(const IntegerTensor& view, bool last) {
    const auto copy = [last](auto& copies, const auto& tensor) {
      auto& values = copies.emplace_back(tensor).values();
      ++(last ? values.back() : values.front());
      return IntegerTensor(&copies.back());
    };
    return std::visit(
        [&]<class T>(const ChunkedTensor<T>* tensor) -> IntegerTensor {
          if constexpr (std::is_same_v<T, std::int16_t>) {
            return copy(narrow, *tensor);
          } else if constexpr (std::is_same_v<T, std::int64_t>) {
            return copy(wide, *tensor);
          } else {
            throw std::logic_error("a tensor of another type");
          }
        },
        view);
  }
};

}  // namespace tessera::test
