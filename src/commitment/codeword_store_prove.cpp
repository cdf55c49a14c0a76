#include <numeric>
#include <utility>
#include <tessera/commitment/codeword.hpp>

namespace tessera {
namespace {

/// Digest of the node above 2^level leaves.
Digest subtree_root(std::span<const F> columns, std::size_t leaf_values) {
  std::vector<Digest> nodes = hash_columns(columns, leaf_values);
  while (nodes.size() > 1) {
    nodes = merkle_parents(nodes);
  }
  return nodes.front();
}

}  // namespace

std::unique_ptr<CodewordStore> commit_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                                             std::span<const IntegerTensor> tensors, Communicator& comm,
                                             std::size_t budget) {
  Codeword codeword = encode_columns(layout, parameters, tensors, comm);
  hash_tree(codeword, std::min(codeword.log_columns, upper_levels), comm);
  const std::size_t bytes = (codeword.leaf_values * sizeof(F)) << codeword.log_columns;
  if (bytes / static_cast<std::size_t>(comm.size()) <= budget) {
    return std::make_unique<MemoryCodewordStore>(std::move(codeword), comm);
  }
  codeword.columns = {};
  return std::make_unique<MemoryCodewordStore>(
      std::move(codeword), comm, [&layout, parameters, tensors = std::vector(tensors.begin(), tensors.end()), &comm] {
        return encode_columns(layout, parameters, tensors, comm).columns;
      });
}

template <class T, class Visit>
std::vector<T> MemoryCodewordStore::from_owners(std::span<const std::size_t> indices, unsigned level, std::size_t count,
                                                const Visit& visit) {
  if (encode_) {
    codeword_.columns = std::exchange(encode_, {})();
  }
  const int ranks = comm_.size();
  const auto owner = [&](std::size_t index) {
    return static_cast<std::size_t>(rank_of_column(index << level, codeword_.log_columns, ranks));
  };
  const auto rank = static_cast<std::size_t>(comm_.rank());
  std::vector<T> mine;
  for (const std::size_t index : indices) {
    if (owner(index) == rank) {
      const std::size_t first = (index << level) - codeword_.first_column;
      visit(
          std::span<const F>(codeword_.columns).subspan(first * codeword_.leaf_values, codeword_.leaf_values << level),
          mine);
    }
  }
  if (ranks == 1) {
    return mine;
  }
  const std::vector<T> gathered = comm_.all_gather<T>(mine);  // by rank, in the order of `indices` within a rank
  std::vector<std::size_t> start(static_cast<std::size_t>(ranks) + 1, 0);
  for (const std::size_t index : indices) {
    ++start[owner(index) + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<T> result;
  result.reserve(gathered.size());
  for (const std::size_t index : indices) {
    const auto first = gathered.begin() + static_cast<std::ptrdiff_t>(start[owner(index)]++ * count);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

std::vector<F> MemoryCodewordStore::columns(std::span<const std::size_t> positions) {
  return from_owners<F>(positions, 0, codeword_.leaf_values, [](std::span<const F> column, std::vector<F>& mine) {
    mine.insert(mine.end(), column.begin(), column.end());
  });
}

std::vector<Digest> MemoryCodewordStore::nodes(unsigned level, std::span<const std::size_t> indices) {
  if (codeword_.levels[level].empty()) {
    return from_owners<Digest>(indices, level, 1, [&](std::span<const F> columns, std::vector<Digest>& mine) {
      mine.push_back(subtree_root(columns, codeword_.leaf_values));
    });
  }
  std::vector<Digest> result;
  result.reserve(indices.size());
  for (const std::size_t index : indices) {
    result.push_back(codeword_.levels[level][index]);
  }
  return result;
}

}  // namespace tessera
