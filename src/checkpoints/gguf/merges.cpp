#include "checkpoints/gguf/merges.hpp"

#include <algorithm>
#include <tuple>

#include "checkpoints/gguf/characters.hpp"
#include "checkpoints/gguf/ties.hpp"

namespace tessera {
namespace {}  // namespace

ScoredMerges merges_of_scores(const std::unordered_map<std::string_view, std::uint32_t>& pieces,
                              std::span<const double> scores) {
  std::vector<Cut> cuts;
  for (const auto& [piece, id] : pieces) {
    std::size_t left = 1;
    const auto characters = static_cast<std::size_t>(std::ranges::count_if(piece, begins_character));
    for (std::size_t place = 1; place < piece.size(); ++place) {
      if (!begins_character(piece[place])) {
        continue;
      }
      const auto first = pieces.find(piece.substr(0, place));
      const auto second = pieces.find(piece.substr(place));
      if (first != pieces.end() && second != pieces.end()) {
        cuts.push_back({{first->second, second->second}, piece, id, scores[id], left, characters - left});
      }
      ++left;
    }
  }
  std::ranges::sort(cuts, [](const Cut& a, const Cut& b) {
    return std::tuple(a.score, a.left, a.right, b.piece, b.merge.left) >
           std::tuple(b.score, b.left, b.right, a.piece, a.merge.left);
  });
  ScoredMerges result;
  std::size_t work = 1U << 24U;  // a second or two
  std::ranges::transform(cuts, std::back_inserter(result.merges), &Cut::merge);
  for (std::size_t begin = 0, end = 0; begin < cuts.size(); begin = end) {
    for (end = begin; end < cuts.size() && cuts[end].score == cuts[begin].score;) {
      ++end;
    }
    const bool one = std::ranges::all_of(cuts.begin() + static_cast<std::ptrdiff_t>(begin),
                                         cuts.begin() + static_cast<std::ptrdiff_t>(end),
                                         [&](const Cut& cut) { return cut.piece == cuts[begin].piece; });
    if (!one && !order_suffices(cuts, begin, end, pieces, scores, work)) {
      for (std::size_t i = begin + 1; i < end; ++i) {
        result.tied.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  return result;
}

}  // namespace tessera
