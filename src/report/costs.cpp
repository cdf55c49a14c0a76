#include <algorithm>
#include <limits>

#include "report/axis.hpp"
#include "base/units.hpp"
#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_ranks = 32;   // with a bar each
constexpr std::size_t most_scopes = 24;  // outermost ones with a bar each

/// The measures of all ranks, or, in a file without them, what it says of the run as a single one's.
std::vector<RankInfo> ranks_of(const ProofArchive& archive) {
  if (!archive.ranks.empty()) {
    return archive.ranks;
  }
  RankInfo one;
  for (const ScopeTiming& timing : archive.timings) {
    one.seconds.push_back(timing.seconds);
    one.peak_memory.push_back(timing.peak_memory);
  }
  return {one};
}

/// Places in the timings of outermost scopes, those that took longest first.
std::vector<std::size_t> outermost_scopes(const ProofArchive& archive) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < archive.timings.size(); ++i) {
    if (depth(archive.timings[i].scope) == 1) {
      places.push_back(i);
    }
  }
  std::ranges::stable_sort(places, std::ranges::greater{},
                           [&](std::size_t i) { return drawable(archive.timings[i].seconds); });
  places.resize(std::min(places.size(), most_scopes));
  return places;
}

Bar time_bar(const ProofArchive& archive, const RankInfo& rank, const std::vector<std::size_t>& scopes) {
  Bar bar;
  double rest = 0;
  for (std::size_t i = 0; i < archive.timings.size(); ++i) {
    if (archive.timings[i].scope == "/") {
      rest = drawable(rank.seconds[i]);
      bar.total = duration(rank.seconds[i]);
    }
  }
  for (const std::size_t i : scopes) {
    const std::string& scope = archive.timings[i].scope;
    bar.segments.push_back({shown(scope), duration(rank.seconds[i]), rank.seconds[i], colour_of(scope)});
    rest -= drawable(rank.seconds[i]);
  }
  if (rest > 0) {
    bar.segments.push_back({"between", duration(rest), rest, no_colour});
  }
  return bar;
}

View time_figure(const ProofArchive& archive) {
  const std::vector<std::size_t> scopes = outermost_scopes(archive);
  const std::vector<RankInfo> ranks = ranks_of(archive);
  Bars bars{"Seconds by scope and rank", "Stacked bars, one a rank; the values are in the table.", "seconds", {}};
  for (std::size_t r = 0; r < std::min(ranks.size(), most_ranks); ++r) {
    bars.bars.push_back(time_bar(archive, ranks[r], scopes));
    bars.bars.back().label = "rank " + std::to_string(r);
  }
  return figure(bars);
}

View legend(const ProofArchive& archive) {
  View entries = View::array();
  for (const std::size_t i : outermost_scopes(archive)) {
    const ScopeTiming& timing = archive.timings[i];
    entries.push_back({{"colour", std::to_string(colour_of(timing.scope))},
                       {"name", shown(timing.scope)},
                       {"value", duration(timing.seconds)}});
  }
  return entries;
}

View memory_figure(const ProofArchive& archive) {
  Bars bars{"Peak memory by scope",
            "A bar for each outermost scope, longest running first: the most resident memory of the largest rank.",
            "MiB",
            {}};
  for (const std::size_t i : outermost_scopes(archive)) {
    const ScopeTiming& timing = archive.timings[i];
    const double size = static_cast<double>(timing.peak_memory) / mebibyte;
    const std::string value = mebibytes(timing.peak_memory) + " MiB";
    bars.bars.push_back(
        {shown(timing.scope, 30), {{shown(timing.scope), value, size, colour_of(timing.scope)}}, value});
  }
  return figure(bars);
}

View rank_memory_figure(const ProofArchive& archive) {
  Bars bars{"Peak memory by rank", "A bar for each rank: its most resident memory during the run.", "MiB", {}};
  for (std::size_t r = 0; r < std::min(archive.ranks.size(), most_ranks); ++r) {
    std::uint64_t peak = 0;
    for (const std::uint64_t value : archive.ranks[r].peak_memory) {
      peak = std::max(peak, value);
    }
    const std::string value = mebibytes(peak) + " MiB";
    bars.bars.push_back(
        {"rank " + std::to_string(r), {{"peak", value, static_cast<double>(peak) / mebibyte, no_colour}}, value});
  }
  return figure(bars);
}

}  // namespace

double whole_seconds(const ProofArchive& archive) {
  const auto found = std::ranges::find(archive.timings, "/", &ScopeTiming::scope);
  return found == archive.timings.end() ? std::numeric_limits<double>::quiet_NaN() : found->seconds;
}

View costs_view(const ProofArchive& archive) {
  const bool several = archive.ranks.size() > 1;
  const std::size_t left_out = archive.ranks.size() - std::min(archive.ranks.size(), most_ranks);
  return {{"time_figure", time_figure(archive)},
          {"legend", legend(archive)},
          {"memory_figure", memory_figure(archive)},
          {"rank_memory_figure", several ? rank_memory_figure(archive) : View(false)},
          {"measured_ranks", !archive.ranks.empty()},
          {"ranks_left_out", left_out == 0 ? View(false) : View(count_of(left_out, "more rank"))},
          {"memory_measure", shown(archive.memory_measure)}};
}

}  // namespace tessera::report
