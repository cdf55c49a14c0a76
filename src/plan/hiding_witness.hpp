#pragma once

#include <deque>

#include "hash/keyed_stream.hpp"
#include "plan/plan.hpp"

namespace tessera {

/// The random tensors of an oracle that carries the masks of an opening: row masks, and random columns for what is
/// opened. Made from one seed, the same on any number of ranks.
class MaskColumns {
 public:
  MaskColumns(const Shape& row_mask_shape, const Shape& tail_shape, unsigned row_variables,
              const OracleParameters& oracle, const Digest& seed, const Communicator& comm);
  MaskColumns(const MaskColumns&) = delete;
  MaskColumns& operator=(const MaskColumns&) = delete;
  [[nodiscard]] const std::vector<E>& row_masks() const { return row_masks_; }
  /// Row masks, random columns.
  [[nodiscard]] std::vector<IntegerTensor> tensors() const { return {&columns_, &tail_}; }

 private:
  std::vector<E> row_masks_;
  ChunkedTensor<std::int64_t> columns_, tail_;
};

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
  [[nodiscard]] const std::vector<E>& row_masks() const { return masks_.row_masks(); }
  /// The tensors that hiding adds to the witness oracle, by HidingPlan::Tensor.
  [[nodiscard]] std::vector<IntegerTensor> tensors() const;

 private:
  std::vector<E> pads_, left_, right_;
  std::deque<ChunkedTensor<std::int64_t>> tensors_;  // all but the last two
  MaskColumns masks_;
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
