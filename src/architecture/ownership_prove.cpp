#include "architecture/ownership.hpp"

#include <algorithm>
#include <map>

#include "architecture/model_plan.hpp"
#include "words/codeword.hpp"
#include "parameters/table.hpp"

namespace tessera {
namespace {

std::string_view words_of(std::string_view symbol) {
  static const std::map<std::string_view, std::string_view> words{{"A", "features of q, k, v"},
                                                                  {"F", "features"},
                                                                  {"G", "heads of keys and values"},
                                                                  {"H", "heads"},
                                                                  {"HM", "features of heads"},
                                                                  {"N", "MLP features"},
                                                                  {"S", "positions"},
                                                                  {"V", "vocabulary rows"}};
  const auto found = words.find(symbol);
  return found == words.end() ? std::string_view("entries") : found->second;
}

/// Dimensions of parameters have no symbols of their own in GPT-2.
std::string_view symbol_of(ParameterAxis axis) {
  using enum ParameterAxis;
  switch (axis) {
    case vocabulary:
      return "V";
    case place:
      return "S";
    case inner:
      return "N";
    case head_feature:
      return "A";
    case query:
    case key:
    case value:
    case mixed:
      return "G";
    default:
      return "F";
  }
}

class Distribution {
 public:
  explicit Distribution(int ranks) : ranks_(ranks) {}

  void add(std::string_view symbol, const Dimension& dimension, std::string_view tensor) {
    std::string name(symbol);
    name.append(" ").append(words_of(symbol));
    add({std::move(name), "", dimension.length, dimension.chunk(),
         boundaries([&](int rank) { return owned_rows(dimension, rank, ranks_); })},
        tensor);
  }
  void add_parts(std::string name, const DeclaredTensor& tensor) {
    const std::size_t count = tensor.ownership.parts(tensor.shape);
    add({std::move(name), "", count, 1, boundaries([&](int rank) { return contiguous_range(count, rank, ranks_); })},
        tensor.name);
  }
  template <class RangeOf>
  [[nodiscard]] std::vector<std::uint64_t> boundaries(const RangeOf& range_of) const {
    std::vector<std::uint64_t> first{0};
    for (int rank = 0; rank < ranks_; ++rank) {
      first.push_back(std::max<std::uint64_t>(first.back(), range_of(rank).last));
    }
    return first;
  }
  [[nodiscard]] std::vector<OwnedDimension>& list() { return list_; }

 private:
  void add(OwnedDimension dimension, std::string_view tensor) {
    const auto same = [&](const OwnedDimension& other) {
      return other.name == dimension.name && other.length == dimension.length && other.chunk == dimension.chunk;
    };
    auto found = std::ranges::find_if(list_, same);
    if (found == list_.end()) {
      found = list_.insert(list_.end(), std::move(dimension));
    }
    found->tensors.append(found->tensors.empty() ? "" : " ").append(tensor);
  }

  int ranks_;
  std::vector<OwnedDimension> list_;
};

}  // namespace

std::vector<OwnedDimension> ownership_of(const ModelPlan& plan, int ranks) {
  Distribution distribution(ranks);
  for (const ParameterRow& row : parameter_table(plan.model)) {
    if (row.sharded) {
      distribution.add(symbol_of(row.rows),
                       row.oracle_shape(plan.model, plan.division).dimensions()[row.ownership().dimension], row.name);
    }
  }
  for (const std::vector<DeclaredTensor>* tensors : {&plan.recorded, &plan.derived}) {
    for (const DeclaredTensor& tensor : *tensors) {
      if (tensor.ownership.deal == Deal::tiles) {
        distribution.add_parts("tiles of scores, head by head", tensor);
      } else if (tensor.ownership.deal == Deal::all) {
        distribution.add_parts("heads of all layers, head by head", tensor);
      } else if (tensor.ownership.dimension != Ownership::replicated) {
        const Dimension& dimension = tensor.shape.dimensions()[tensor.ownership.dimension];
        distribution.add(dimension.symbol, dimension, tensor.name);
      }
    }
  }
  const WordDomain domain = plan.witness_layout.domain(plan.witness_oracle);
  const LeafShares leaves(domain, ranks);
  distribution.list().push_back({"columns of the witness codeword", "", domain.points(),
                                 std::uint64_t{1} << leaves.log_group(),
                                 distribution.boundaries([&](int rank) { return leaves.of(rank); })});
  return std::move(distribution.list());
}

}  // namespace tessera
