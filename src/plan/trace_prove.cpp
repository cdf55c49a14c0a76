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

RecordedTensor allocate(DeclaredTensor declared, int rank, int ranks) {
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

/// Which rank recorded which columns of a team's chunks: rows of the sequence from `first` on, and those that nobody
/// recorded.
std::vector<ColumnsOf> columns_by_rank(const std::vector<Range>& shared, const Team& team, std::size_t first,
                                       std::size_t columns) {
  std::vector<ColumnsOf> parts;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t row = first + column;
    const Range together = row < shared.size() ? shared[row] : Range{};
    const int member =
        together.size() == 0 ? 0 : contiguous_owner(row - together.first, together.size(), static_cast<int>(team.size));
    if (parts.empty() || parts.back().rank != team.first + member) {
      parts.push_back({team.first + member, {column, column}});
    }
    parts.back().columns.last = column + 1;
  }
  return parts;
}

}  // namespace

Trace::Trace(const Plan& plan, int rank, int ranks, bool recording)
    : prompt_length(plan.prompt_length), generated(plan.generated), exceptions(plan.clamped.size()) {
  for (DeclaredTensor declared : plan.recorded) {
    const bool of_heads = recording && ranks > 1 && declared.ownership.deal == Deal::all;
    declared.ownership.deal = of_heads ? Deal::indices : declared.ownership.deal;
    tensors.push_back(allocate(declared, of_heads ? plan.team(rank, ranks).first : rank, ranks));
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
          const auto wanted = [&](int rank) { return owned_chunks(shape, ownership, rank, comm.size()); };
          if (!plan.has_teams(comm.size())) {
            tensor = redistribute(tensor, ownership, wanted, comm);
            return;
          }
          const Dimension& rows = shape.dimensions().back();
          const std::size_t passes = rows.chunk_count();
          std::vector<std::vector<ColumnsOf>> parts;  // by head and chunk of the rows
          for (std::size_t head = 0; head < plan.shared_heads; ++head) {
            const Team team =
                team_of(plan.shared_heads, contiguous_owner(head, plan.shared_heads, comm.size()), comm.size());
            for (std::size_t pass = 0; pass < passes; ++pass) {
              parts.push_back(columns_by_rank(shared, team, pass << rows.log_chunk, rows.chunk()));
            }
          }
          const auto parts_of = [&](std::size_t chunk) -> const std::vector<ColumnsOf>& {
            return parts[shape.coordinate(chunk, ownership.dimension) * passes +
                         shape.coordinate(chunk, shape.dimensions().size() - 1)];
          };
          tensor = assemble(tensor, ownership, wanted, parts_of, comm);
        },
        tensors[number]);
  }
  shared.clear();
}

std::vector<std::uint32_t> Trace::generated_tokens() const {
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(prompt_length);
  std::vector<std::uint32_t> ids(first, first + static_cast<std::ptrdiff_t>(generated - 1));
  ids.push_back(last_token);
  return ids;
}

}  // namespace tessera
