#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "plan/exceptions.hpp"
#include "plan/plan.hpp"

namespace tessera {

/// Everything of one inference that the prover needs: one tensor for each entry of Plan::recorded, of which every rank
/// holds what it owns.
class Trace {
 public:
  Trace() = default;
  /// A trace without tokens: the plan's tensors, filled as they are declared, with the ownership of `rank`. One that
  /// inference records into has a head's chunks of all blocks where the head is inferred, each of a team all of them,
  /// until deal_chunks().
  Trace(const Plan& plan, int rank, int ranks, bool recording = false);
  /// Distributes the chunks to their owners. Collective.
  void deal_chunks(const Plan& plan, Communicator& comm);

  std::vector<std::uint32_t> tokens;  // of the rows: prompt, generated, filler
  std::vector<Range> shared;          // by row, the rows of a batch that teams shared, if any; until deal_chunks()
  std::uint32_t last_token = 0;       // the last one generated, which a continuation has no row for
  std::size_t prompt_length = 0;
  std::size_t generated = 0;
  std::vector<RecordedTensor> tensors;
  ExceptionLists exceptions;  // all ranks'

  /// The generated ids.
  [[nodiscard]] std::vector<std::uint32_t> generated_tokens() const;

  template <class T>
  ChunkedTensor<T>& operator[](const Recorded<T>& tensor) {
    return std::get<ChunkedTensor<T>>(tensors[tensor.recorded]);
  }
  template <class T>
  const ChunkedTensor<T>& operator[](const Recorded<T>& tensor) const {
    return std::get<ChunkedTensor<T>>(tensors[tensor.recorded]);
  }
  /// The recorded tensor of this number, of whichever integers.
  [[nodiscard]] IntegerTensor view(std::size_t number) const {
    return std::visit([](const auto& tensor) -> IntegerTensor { return &tensor; }, tensors[number]);
  }
};

/// A row of a tensor whose last dimension are tokens, chunk after chunk. It must be held here.
template <class T>
class TokenRow {
 public:
  TokenRow(ChunkedTensor<T>& tensor, const RowPlace& place)
      : tensor_(&tensor), place_(place), log_chunk_(tensor.shape().dimensions().back().log_chunk) {}

  /// The value of one token.
  [[nodiscard]] T& operator[](std::size_t token) const {
    return chunk(token)[token & ((std::size_t{1} << log_chunk_) - 1)];
  }
  /// Values of the tokens from `first` on, converted.
  template <class From>
  void write(std::size_t first, std::span<From> values) const {
    for (std::size_t done = 0; done < values.size();) {
      const std::size_t inside = (first + done) & ((std::size_t{1} << log_chunk_) - 1);
      const std::size_t count = std::min(values.size() - done, (std::size_t{1} << log_chunk_) - inside);
      std::transform(values.begin() + static_cast<std::ptrdiff_t>(done),
                     values.begin() + static_cast<std::ptrdiff_t>(done + count), chunk(first + done) + inside,
                     [](From value) { return static_cast<T>(value); });
      done += count;
    }
  }
  template <class From>
  void write(std::size_t first, const std::vector<From>& values) const {
    write(first, std::span(values));
  }

 private:
  [[nodiscard]] T* chunk(std::size_t token) const {
    return tensor_->chunk(place_.chunk + (token >> log_chunk_) * place_.step).data() + (place_.row << log_chunk_);
  }

  ChunkedTensor<T>* tensor_;
  RowPlace place_;
  unsigned log_chunk_;
};

/// Row `row` of a block in a tensor (block, dimensions of the row.., tokens), or (rows, tokens) as block 0, rows
/// numbered as row_place() does.
template <class T>
TokenRow<T> block_row(ChunkedTensor<T>& tensor, std::size_t block, std::size_t row) {
  return {tensor, row_place(tensor.shape(), block, row)};
}

/// Row `row` of a chunk in a tensor (.., places, tokens) whose other dimensions have chunks of one entry; `outer`:
/// their flat number. Without places it is the only row.
template <class T>
TokenRow<T> token_row(ChunkedTensor<T>& tensor, std::size_t outer, std::size_t row = 0) {
  return {tensor, {outer * tensor.shape().dimensions().back().chunk_count(), row, 1}};
}

}  // namespace tessera
