#pragma once

#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"
#include "tensor/claim.hpp"
#include "transcript/verifier.hpp"

namespace tessera {

/// How the chunks of several tensors are packed into one multilinear polynomial: largest chunk first, then tensor, then
/// chunk order; chunks below 2^7 values are padded to that (the padding variables are 0 in all claims). Every chunk is
/// aligned to its (padded) size. Parts of divided chunks lie in their chunk one after the other: where values are does
/// not depend on how many ranks share them.
class OracleLayout {
 public:
  static constexpr unsigned min_log_chunk = 7;
  OracleLayout() = default;
  explicit OracleLayout(std::vector<Shape> tensors, unsigned min_log_size = min_log_chunk);
  [[nodiscard]] const std::vector<Shape>& tensors() const { return tensors_; }
  /// First index of the chunk in the oracle.
  [[nodiscard]] std::size_t offset(std::size_t tensor, std::size_t chunk) const { return offsets_[tensor][chunk]; }
  /// log2 of the (padded) size of the largest chunk.
  [[nodiscard]] unsigned log_largest_chunk() const { return log_largest_chunk_; }
  /// Indices in use (the rest up to 2^log_size is zero).
  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] unsigned log_size() const { return log_size_; }

 private:
  std::vector<Shape> tensors_;
  std::vector<std::vector<std::size_t>> offsets_;
  unsigned log_largest_chunk_ = min_log_chunk;
  std::size_t used_ = 0;
  unsigned log_size_ = 0;
};

/// A committed oracle's public side. Matrix: row = low log_rows bits of the index, column = the rest; each row is the
/// coefficient vector of a Reed-Solomon codeword over the 2^(log_size - log_rows + log_inverse_rate)-th roots of unity;
/// Merkle leaf x = the 2^log_rows codeword entries at omega^x.
struct OracleParameters {
  unsigned log_rows = 6;
  unsigned log_inverse_rate = 1;
};

}  // namespace tessera
