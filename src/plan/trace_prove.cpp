#include "plan/trace.hpp"

#include <algorithm>

#include "tensor/redistribute.hpp"

namespace tessera {
namespace {

template <class T>
RecordedTensor allocate(const DeclaredTensor& declared, int rank, int ranks) {
  ChunkedTensor<T> tensor(declared.shape, declared.ownership, rank, ranks);
  if (declared.fill != 0) {
    // pages are touched here for the first time, which all threads share
    constexpr std::size_t piece = std::size_t{1} << 18;
    const std::span<T> values(tensor.values());
#pragma omp parallel for schedule(static)
    for (std::size_t first = 0; first < values.size(); first += piece) {
      std::ranges::fill(values.subspan(first, std::min(piece, values.size() - first)), static_cast<T>(declared.fill));
    }
  }
  return tensor;
}

RecordedTensor allocate(DeclaredTensor declared, int rank, int ranks, bool recording) {
  if (recording && declared.ownership.deal == Deal::all) {
    declared.ownership.deal = Deal::indices;
  }
  if (declared.bytes == sizeof(std::int64_t)) {
    return allocate<std::int64_t>(declared, rank, ranks);
  }
  if (declared.bytes == sizeof(std::int32_t)) {
    return allocate<std::int32_t>(declared, rank, ranks);
  }
  // no others are Recordable
  return declared.is_signed ? allocate<std::int16_t>(declared, rank, ranks)
                            : allocate<std::uint16_t>(declared, rank, ranks);
}

}  // namespace

Trace::Trace(const Plan& plan, int rank, int ranks, bool recording)
    : prompt_length(plan.prompt_length), generated(plan.generated) {
  for (const DeclaredTensor& declared : plan.recorded) {
    tensors.push_back(allocate(declared, rank, ranks, recording && ranks > 1));
  }
}

void Trace::deal_chunks(const Plan& plan, Communicator& comm) {
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    const Ownership& ownership = plan.recorded[number].ownership;
    std::visit(
        [&](auto& tensor) {
          if (tensor.ownership() == ownership) {
            return;
          }
          const Shape& shape = tensor.shape();
          tensor = redistribute(
              tensor, ownership, [&](int rank) { return owned_chunks(shape, ownership, rank, comm.size()); }, comm);
        },
        tensors[number]);
  }
}

std::vector<std::uint32_t> Trace::generated_tokens() const {
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(prompt_length);
  std::vector<std::uint32_t> ids(first, first + static_cast<std::ptrdiff_t>(generated - 1));
  ids.push_back(last_token);
  return ids;
}

}  // namespace tessera
