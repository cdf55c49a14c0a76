#include "checkpoints/gguf/ties.hpp"

#include <algorithm>
#include <optional>

#include "checkpoints/gguf/characters.hpp"

namespace tessera {
namespace {

class Group {
 public:
  Group(const std::vector<Cut>& cuts, std::size_t first, std::size_t last, const Pieces& pieces,
        std::span<const double> scores, std::size_t& work)
      : cuts_(cuts), first_(first), last_(last), pieces_(pieces), scores_(scores), work_(work) {}

  bool order_suffices() {
    for (std::size_t i = first_; i < last_ && work_ != 0; ++i) {
      if (live(cuts_[i])) {
        made_by_.emplace(cuts_[i].piece, i);
      }
    }
    return !is_part_of_better() &&
           std::ranges::all_of(made_by_, [&](const auto& u) { return comes_in_time(u.second); });
  }

 private:
  void spend() { work_ -= work_ == 0 ? 0 : 1; }

  /// The merge that makes a piece of its characters where they stand alone.
  std::optional<Merge> last_merge(std::string_view text) {
    std::vector<std::size_t> begins;  // of what has been merged so far, then the end
    for (std::size_t place = 0; place <= text.size(); ++place) {
      if (place == text.size() || begins_character(text[place])) {
        begins.push_back(place);
      }
    }
    const auto find = [&](std::size_t begin, std::size_t end) {
      spend();
      return pieces_.find(text.substr(begin, end - begin));
    };
    for (std::size_t i = 1; i < begins.size(); ++i) {
      if (find(begins[i - 1], begins[i]) == pieces_.end()) {
        return {};  // a character that is no piece, which merges with nothing
      }
    }
    while (begins.size() > 3) {
      std::size_t best = 0;
      double best_score = 0;
      for (std::size_t i = 1; i + 1 < begins.size(); ++i) {
        const auto found = find(begins[i - 1], begins[i + 1]);
        if (found != pieces_.end() && (best == 0 || scores_[found->second] > best_score)) {
          best = i;
          best_score = scores_[found->second];
        }
      }
      if (best == 0 || work_ == 0) {
        return {};
      }
      begins.erase(begins.begin() + static_cast<std::ptrdiff_t>(best));
    }
    if (begins.size() < 3) {
      return {};
    }
    const auto left = find(begins[0], begins[1]), right = find(begins[1], begins[2]);
    return left == pieces_.end() || right == pieces_.end() ? std::nullopt
                                                           : std::optional(Merge{left->second, right->second});
  }

  bool live(const Cut& cut) { return last_merge(cut.text) == cut.merge; }

  bool is_part_of_better() {
    for (std::size_t i = 0; i < first_ && work_ != 0; ++i) {
      spend();
      const Merge& merge = cuts_[i].merge;
      if ((made_by_.contains(merge.left) || made_by_.contains(merge.right)) && live(cuts_[i])) {
        return true;
      }
    }
    return false;
  }

  /// The last in order of the cuts of this group that a cut consists of, itself among them.
  std::size_t latest(std::size_t cut) const {
    std::size_t result = cut;
    for (const std::uint32_t part : {cuts_[cut].merge.left, cuts_[cut].merge.right}) {
      if (const auto found = made_by_.find(part); found != made_by_.end()) {
        result = std::max(result, latest(found->second));
      }
    }
    return result;
  }

  /// Whether this cut comes before every cut whose left part is its right one.
  bool comes_in_time(std::size_t u) {
    const std::size_t needed = latest(u);
    return work_ != 0 && std::ranges::none_of(made_by_, [&](const auto& v) {
             spend();
             return cuts_[v.second].merge.left == cuts_[u].merge.right && v.second < needed;
           });
  }

  const std::vector<Cut>& cuts_;
  std::size_t first_, last_;
  const Pieces& pieces_;
  std::span<const double> scores_;
  std::unordered_map<std::uint32_t, std::size_t> made_by_;  // piece of the group -> the cut that makes it
  std::size_t& work_;
};

}  // namespace

bool order_suffices(const std::vector<Cut>& cuts, std::size_t first, std::size_t last, const Pieces& pieces,
                    std::span<const double> scores, std::size_t& work) {
  return Group(cuts, first, last, pieces, scores, work).order_suffices() && work != 0;
}

}  // namespace tessera
