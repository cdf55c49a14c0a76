#pragma once

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

  std::vector<std::uint32_t> tokens;  // of the rows: prompt, generated, filler: s_hat ids
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

/// First value of row `index` of dimension `ChunkedTensor::shape().dimensions()[n-2]` in a tensor whose dimensions are
/// (outer..., rows, columns in one chunk); `outer` is the flat number of the outer indices. The row must be held here.
template <class T>
T* trace_row(ChunkedTensor<T>& tensor, std::size_t outer, std::size_t index) {
  const std::vector<Dimension>& dimensions = tensor.shape().dimensions();
  const Dimension& rows = dimensions[dimensions.size() - 2];
  const std::size_t chunk = outer * rows.chunk_count() + (index >> rows.log_chunk);
  return tensor.chunk(chunk).data() + ((index & (rows.chunk() - 1)) << dimensions.back().log_chunk);
}

/// First value of row `row` of a block in a tensor (block, dimensions of the row.., tokens in one chunk), rows numbered
/// as row_place() does. The row must be held here.
template <class T>
T* block_row(ChunkedTensor<T>& tensor, std::size_t block, std::size_t row) {
  const RowPlace place = row_place(tensor.shape(), block, row);
  return tensor.chunk(place.chunk).data() + (place.row << tensor.shape().dimensions().back().log_chunk);
}

}  // namespace tessera
