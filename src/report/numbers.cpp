#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "report/tables.hpp"
#include "report/text.hpp"
#include "report/views.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_rows = 400;  // of a proof in a table
constexpr std::size_t most_kinds = 24;  // of messages with a row each

template <class Value>
struct Extremes {
  Value least = std::numeric_limits<Value>::max();
  Value most = 0;
};

/// The least and the most of a measure (member of RankInfo) in one scope, over all ranks.
template <class Value>
Extremes<Value> extremes(const ProofArchive& archive, std::vector<Value> RankInfo::*measure, std::size_t scope) {
  Extremes<Value> result;
  for (const RankInfo& rank : archive.ranks) {
    result.least = std::min(result.least, (rank.*measure)[scope]);
    result.most = std::max(result.most, (rank.*measure)[scope]);
  }
  return result;
}

/// "/" before all, inner scopes after their outer one.
std::vector<std::size_t> scope_order(const ProofArchive& archive) {
  std::vector<std::size_t> order(archive.timings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return archive.timings[i].scope; });
  order.resize(std::min(order.size(), most_rows));
  return order;
}

RowName scope_name(const std::string& scope) { return {{shown(scope)}, depth(scope), colour_of(scope)}; }

/// All measures, of a proof that is alone.
Columns scope_columns(const ProofArchive& archive) {
  Columns columns{{"Scope"}, {"Seconds", "Share"}, {}};
  const bool several = archive.ranks.size() > 1;
  if (several) {
    columns.heads.insert(columns.heads.end(), {"Fastest rank, s", "Slowest rank, s"});
  }
  columns.heads.emplace_back("Peak MiB");
  if (several) {
    columns.heads.emplace_back("Smallest rank, MiB");
  }
  const double whole = whole_seconds(archive);
  for (const std::size_t i : scope_order(archive)) {
    const ScopeTiming& timing = archive.timings[i];
    std::vector<std::string> values{fixed(timing.seconds, 4), share(timing.seconds, whole)};
    if (several) {
      const Extremes<double> seconds = extremes(archive, &RankInfo::seconds, i);
      values.insert(values.end(), {fixed(seconds.least, 4), fixed(seconds.most, 4)});
    }
    values.push_back(mebibytes(timing.peak_memory));
    if (several) {
      values.push_back(mebibytes(extremes(archive, &RankInfo::peak_memory, i).least));
    }
    columns.rows.push_back({scope_name(timing.scope), values});
  }
  return columns;
}

/// One measure, of one proof beside others.
Columns measure_columns(const ProofArchive& archive, const auto& text_of) {
  Columns columns{{"Scope"}, {""}, {}};
  for (const std::size_t i : scope_order(archive)) {
    columns.rows.push_back({scope_name(archive.timings[i].scope), {text_of(archive.timings[i])}});
  }
  return columns;
}

/// All messages of one name in one scope.
struct Kind {
  std::string path, label;
  std::uint64_t times = 0, bytes = 0;
};

/// The largest first.
std::vector<Kind> kinds_of(const Account& account) {
  std::vector<Kind> kinds;
  std::map<std::string, std::size_t> places;
  for (const Account::Message& message : account.messages) {
    const auto [place, is_new] = places.try_emplace(message.path + ':' + message.label, kinds.size());
    if (is_new) {
      kinds.push_back({message.path.empty() ? "/" : message.path, message.label});
    }
    Kind& kind = kinds[place->second];
    ++kind.times;
    kind.bytes += message.bytes();
  }
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &Kind::bytes);
  if (kinds.size() > most_kinds) {
    Kind others{"all others", count_of(kinds.size() - most_kinds, "other kind")};
    for (std::size_t i = most_kinds; i < kinds.size(); ++i) {
      others.times += kinds[i].times;
      others.bytes += kinds[i].bytes;
    }
    kinds.resize(most_kinds);
    kinds.push_back(others);
  }
  return kinds;
}

Columns message_columns(const Part& part, bool alone) {
  Columns columns{{"Scope", "Message"}, {"Bytes"}, {}};
  if (alone) {
    columns.heads = {"Times", "Bytes", "Share"};
  }
  if (!part.verification || !part.verification->account) {
    return columns;
  }
  const auto all = static_cast<double>(part.verification->account->bytes());
  for (const Kind& kind : kinds_of(*part.verification->account)) {
    std::vector<std::string> values{grouped(kind.bytes)};
    if (alone) {
      values = {grouped(kind.times), grouped(kind.bytes), share(static_cast<double>(kind.bytes), all)};
    }
    columns.rows.push_back({{{kind.path, kind.label}, 0, colour_of(kind.path)}, values});
  }
  return columns;
}

Columns round_columns(const Part& part) {
  Columns columns{{"Scope", "Where chance decides"}, {"Bits"}, {}};
  for (const SoundnessEntry& entry : soundness_of(part).entries) {
    if (columns.rows.size() == most_rows) {
      break;
    }
    columns.rows.push_back(
        {{{shown(entry.scope), shown(entry.reason)}, 0, colour_of(entry.scope)}, {fixed(shown_bits(entry.bits), 1)}});
  }
  return columns;
}

std::vector<Columns> columns_of(const std::vector<const Part*>& parts, const auto& make) {
  std::vector<Columns> columns;
  std::ranges::transform(parts, std::back_inserter(columns), [&](const Part* part) { return make(*part); });
  return columns;
}

bool has_rows(const std::vector<Columns>& columns) {
  return std::ranges::any_of(columns, [](const Columns& some) { return !some.rows.empty(); });
}

}  // namespace

View tables_view(const std::vector<const Part*>& parts) {
  const bool alone = parts.size() == 1;
  View tables = View::array();
  const auto add = [&](const std::string& title, const std::string& note, const std::vector<Columns>& columns) {
    if (has_rows(columns)) {
      tables.push_back(merged_tables(title, note, columns));
    }
  };
  const std::string numbers = alone ? "" : " Columns have the proofs' numbers; proofs that agree share one.";
  const std::string inner = "Inner scopes are part of outer ones; “/” is all. ";
  if (alone) {
    add("Time and memory by scope", inner + "Seconds and share are rank 0's, peak MiB the largest rank's.",
        columns_of(parts, [](const Part& part) { return scope_columns(part.archive); }));
  } else {
    add("Seconds by scope", inner + "Of rank 0." + numbers, columns_of(parts, [](const Part& part) {
          return measure_columns(part.archive, [](const ScopeTiming& timing) { return fixed(timing.seconds, 4); });
        }));
    add("Peak MiB by scope", inner + "Of the largest rank." + numbers, columns_of(parts, [](const Part& part) {
          return measure_columns(part.archive, [](const ScopeTiming& timing) { return mebibytes(timing.peak_memory); });
        }));
  }
  add("Bytes by message", "The largest kinds of messages." + numbers,
      columns_of(parts, [&](const Part& part) { return message_columns(part, alone); }));
  add("Soundness by round", "Bits: −log₂ of the error of each round; of those that are alike, all together." + numbers,
      columns_of(parts, [](const Part& part) { return round_columns(part); }));
  return tables;
}

}  // namespace tessera::report
