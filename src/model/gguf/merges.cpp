#include "model/gguf/merges.hpp"

#include <algorithm>
#include <tuple>

#include "base/errors.hpp"

namespace tessera {
namespace {

struct Cut {
  Merge merge;
  std::uint32_t piece = 0;
  double score = 0;
  std::size_t left = 0;  // characters of the left part
};

bool begins_character(char byte) { return (byte & 0xC0) != 0x80; }

}  // namespace

std::vector<Merge> merges_of_scores(const std::unordered_map<std::string_view, std::uint32_t>& pieces,
                                    std::span<const double> scores, const std::string& what) {
  std::vector<Cut> cuts;
  for (const auto& [piece, id] : pieces) {
    std::size_t left = 1;
    for (std::size_t place = 1; place < piece.size(); ++place) {
      if (!begins_character(piece[place])) {
        continue;
      }
      const auto first = pieces.find(piece.substr(0, place));
      const auto second = pieces.find(piece.substr(place));
      if (first != pieces.end() && second != pieces.end()) {
        cuts.push_back({{first->second, second->second}, id, scores[id], left});
      }
      ++left;
    }
  }
  std::ranges::sort(cuts, [](const Cut& a, const Cut& b) {
    return std::tuple(a.score, a.piece, a.left) > std::tuple(b.score, b.piece, b.left);
  });
  const auto tied = std::ranges::adjacent_find(
      cuts, [](const Cut& a, const Cut& b) { return a.score == b.score && a.piece != b.piece; });
  if (tied != cuts.end()) {
    throw InputError(what + ": expected a score of its own for each token, found that of " +
                     std::to_string(tied->piece) + " and " + std::to_string((tied + 1)->piece) + " equal");
  }
  std::vector<Merge> merges;
  std::ranges::transform(cuts, std::back_inserter(merges), &Cut::merge);
  return merges;
}

}  // namespace tessera
