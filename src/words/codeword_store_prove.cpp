#include <numeric>
#include "words/codeword.hpp"
#include "words/row_groups.hpp"
#include <utility>

namespace tessera {

std::unique_ptr<CodewordStore> commit_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                                             std::span<const IntegerTensor> tensors, Communicator& comm,
                                             std::size_t budget, std::shared_ptr<const LeafExtras> extras) {
  const WordDomain domain = layout.domain(parameters);
  const std::size_t bytes = parameters.rows() * sizeof(F) * domain.points();
  if (domain.whole() && bytes / static_cast<std::size_t>(comm.size()) <= budget) {
    return std::make_unique<MemoryCodewordStore>(
        encode_oracle(layout, parameters, tensors, true, comm, std::move(extras)), comm);
  }
  return std::make_unique<MemoryCodewordStore>(
      encode_oracle(layout, parameters, tensors, false, comm, std::move(extras)), comm,
      [layout, parameters, tensors = std::vector(tensors.begin(), tensors.end()), &comm](
          std::span<const std::size_t> positions) { return columns_at(layout, parameters, tensors, positions, comm); });
}

template <class T, class Owner, class Place>
std::vector<T> MemoryCodewordStore::from_owners(std::span<const std::size_t> indices, const Owner& owner,
                                                const Place& place, std::span<const T> values, std::size_t count) {
  const int ranks = comm_.size();
  std::vector<T> mine;
  for (const std::size_t index : indices) {
    if (owner(index) == comm_.rank()) {
      const std::span<const T> part = values.subspan(place(index) * count, count);
      mine.insert(mine.end(), part.begin(), part.end());
    }
  }
  if (ranks == 1) {
    return mine;
  }
  const std::vector<T> gathered = comm_.all_gather<T>(mine);  // by rank, in the order of `indices` within a rank
  std::vector<std::size_t> start(static_cast<std::size_t>(ranks) + 1, 0);
  for (const std::size_t index : indices) {
    ++start[static_cast<std::size_t>(owner(index)) + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<T> result;
  result.reserve(gathered.size());
  for (const std::size_t index : indices) {
    const auto first =
        gathered.begin() + static_cast<std::ptrdiff_t>(start[static_cast<std::size_t>(owner(index))]++ * count);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

std::vector<F> MemoryCodewordStore::columns(std::span<const std::size_t> positions) {
  std::vector<F> columns =
      compute_ ? compute_(positions)
               : from_owners(
                     positions, [&](std::size_t position) { return codeword_.positions.owner(position); },
                     [&](std::size_t position) { return codeword_.positions.place(position); },
                     std::span<const F>(codeword_.columns), codeword_.leaf_values);
  const LeafExtras* const extras = codeword_.extras.get();
  return extras == nullptr ? columns : with_extras(columns, extras->at(positions), extras->count());
}

std::vector<F> with_extras(std::span<const F> columns, std::span<const F> blocks, std::size_t extra) {
  const std::size_t count = blocks.size() / LeafExtras::block;
  const std::size_t width = columns.size() / std::max(count, std::size_t{1});
  std::vector<F> leaves;
  leaves.reserve(columns.size() + count * extra);
  for (std::size_t i = 0; i < count; ++i) {
    const auto column = columns.subspan(i * width, width);
    const auto rest = blocks.subspan(i * LeafExtras::block, extra);
    leaves.insert(leaves.end(), column.begin(), column.end());
    leaves.insert(leaves.end(), rest.begin(), rest.end());
  }
  return leaves;
}

std::vector<Digest> MemoryCodewordStore::nodes(unsigned level, std::span<const std::size_t> indices) {
  if (level < codeword_.leaves.log_group()) {
    const unsigned below = level < upper_levels ? level : 0;  // a rank may have no leaves
    const std::vector<Digest> found = from_owners(
        indices, [&](std::size_t index) { return codeword_.leaves.owner(index << level); },
        [&](std::size_t index) { return index - (codeword_.first_leaf >> level); },
        std::span<const Digest>(codeword_.levels[level - below]), std::size_t{1} << below);
    TreeLevel nodes(found.begin(), found.end());
    for (unsigned i = 0; i < below; ++i) {
      nodes = merkle_parents(nodes);
    }
    return {nodes.begin(), nodes.end()};
  }
  std::vector<Digest> result;
  result.reserve(indices.size());
  for (const std::size_t index : indices) {
    result.push_back(codeword_.levels[level][index]);
  }
  return result;
}

}  // namespace tessera
