#pragma once

#include <deque>

#include "hash/keyed_stream.hpp"
#include "plan/plan.hpp"

namespace tessera {

/// The random tensors that a hiding proof's witness oracle has beside the plain ones, all made from one seed: the same
/// on any number of ranks.
class HidingWitness {
 public:
  HidingWitness(const HidingPlan& plan, const OracleParameters& witness_oracle, const Digest& seed,
                const Communicator& comm);
  HidingWitness(const HidingWitness&) = delete;
  HidingWitness& operator=(const HidingWitness&) = delete;

  [[nodiscard]] const std::vector<E>& pads() const { return pads_; }
  /// Factors of the products, the random pair at the end.
  [[nodiscard]] const std::vector<E>& left() const { return left_; }
  [[nodiscard]] const std::vector<E>& right() const { return right_; }
  [[nodiscard]] const std::vector<E>& row_masks() const { return row_masks_; }
  /// By HidingPlan::Tensor.
  [[nodiscard]] std::vector<IntegerTensor> tensors() const;

 private:
  std::vector<E> pads_, left_, right_, row_masks_;
  std::deque<ChunkedTensor<std::int64_t>> tensors_;
};

/// Random columns: cell i of the tensor is element i of the stream.
ChunkedTensor<std::int64_t> random_columns(const Shape& shape, const KeyedStream& stream, const Communicator& comm);

/// What a hiding key's issuer keeps secret, from which the parameters' random columns and salt are made.
struct HidingSecret {
  KeyedStream columns;
  std::shared_ptr<const KeyedStream> salt;
  explicit HidingSecret(const Digest& seed)
      : columns(seed, "parameter columns"), salt(std::make_shared<KeyedStream>(seed, "parameter salt")) {}
};

/// An element of F as the integer of least magnitude that stands for it.
std::int64_t signed_value(F element);

}  // namespace tessera
