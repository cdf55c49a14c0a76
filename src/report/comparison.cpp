#include <algorithm>
#include <set>

#include "archive/hdf5.hpp"
#include "base/units.hpp"
#include "report/axis.hpp"
#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/views.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::report {
namespace {

using Parts = std::vector<const Part*>;

std::uint64_t cores_of(const Part& part) {
  return std::uint64_t{part.archive.machine.ranks} * part.archive.machine.threads;
}

std::string machine_of(const Part& part) {
  return std::to_string(part.archive.machine.ranks) + " × " + std::to_string(part.archive.machine.threads);
}

std::string tokens_of(const Statement& statement) {
  const std::string past = statement.start ? grouped(statement.start->length + 1) + " before, " : "";
  return past + std::to_string(statement.prompt.size()) + " + " + std::to_string(statement.generated.size());
}

/// Proofs of one statement under one key: what their machines made of the same work.
struct Group {
  std::string name;
  Parts parts;
  [[nodiscard]] const ProofArchive& archive() const { return parts.front()->archive; }
  /// What the others are measured against: the fewest cores, of several the first.
  [[nodiscard]] const Part& base() const {
    return **std::ranges::min_element(parts, {}, [](const Part* part) { return cores_of(*part); });
  }
};

/// "A", "B", ... "Z", "27".
std::string group_name(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : std::to_string(index + 1);
}

std::vector<Group> groups_of(const Parts& parts) {
  std::vector<Group> groups;
  for (const Part* const part : parts) {
    const auto found = std::ranges::find_if(groups, [&](const Group& group) {
      return group.archive().key_digest == part->archive.key_digest &&
             group.archive().statement == part->archive.statement;
    });
    Group& group = found == groups.end() ? groups.emplace_back(Group{group_name(groups.size()), {}}) : *found;
    group.parts.push_back(part);
  }
  return groups;
}

/// What keeps a statement from being the first one.
std::string differences(const ProofArchive& first, const ProofArchive& other) {
  std::string text;
  const auto add = [&text](bool differs, const char* what) {
    text += differs ? (text.empty() ? "" : ", ") + std::string(what) : "";
  };
  const Statement &a = first.statement, &b = other.statement;
  add(first.key_digest != other.key_digest, "key");
  add(a.prompt != b.prompt, "prompt");
  add(a.generated != b.generated, "generated tokens");
  add(a.start != b.start, "state that it starts from");
  add(a.keeps != b.keeps, "whether a state is kept");
  add(a.pass_length != b.pass_length, "pass length");
  add(a.sampling != b.sampling, "how tokens are drawn");
  return text;
}

View group_views(const std::vector<Group>& groups) {
  View views = View::array();
  for (const Group& group : groups) {
    const std::string other = differences(groups.front().archive(), group.archive());
    views.push_back({{"group", group.name},
                     {"group_count", count_of(group.parts.size(), "proof")},
                     {"group_tokens", tokens_of(group.archive().statement)},
                     {"differs", other.empty() ? View(false) : View(other)}});
  }
  return views;
}

View row_view(const Part& part, const Group& group) {
  const double seconds = whole_seconds(part.archive);
  const bool alone = group.parts.size() == 1;
  const double speed = drawable(seconds) > 0 ? drawable(whole_seconds(group.base().archive)) / seconds : 0;
  const Statement& statement = part.archive.statement;
  const auto tokens = static_cast<double>(statement.prompt.size() + statement.generated.size());
  return {{"row_file", shown(part.file)},
          {"group", group.name},
          {"row_tokens", tokens_of(statement)},
          {"row_machine", machine_of(part)},
          {"row_seconds", fixed(seconds, 4)},
          {"row_rate", drawable(seconds) > 0 ? fixed(tokens / seconds, 1) : "–"},
          {"row_speed", alone                    ? "–"
                        : &part == &group.base() ? "1"
                                                 : fixed(speed, 2)},
          {"row_memory", mebibytes(part.archive.machine.peak_memory)},
          {"row_bytes", grouped(part.archive.payload.size())}};
}

/// One curve for each name, its points by x.
class CurveSet {
 public:
  void add(const std::string& name, CurvePoint point) {
    auto found = std::ranges::find(curves_, name, &Curve::name);
    if (found == curves_.end()) {
      found = curves_.insert(found, Curve{name, {}, false});
    }
    found->points.push_back(point);
    places_.insert(point.x);
  }
  void add_ideal(CurvePoint from) {
    const double most = places_.empty() ? from.x : *places_.rbegin();
    curves_.push_back({"ideal: time ÷ threads", {from, {most, from.y * from.x / most}}, true});
  }
  [[nodiscard]] bool shows_something() const { return places_.size() > 1; }
  [[nodiscard]] std::vector<Curve> take() {
    for (Curve& curve : curves_) {
      std::ranges::stable_sort(curve.points, {}, &CurvePoint::x);
    }
    return std::move(curves_);
  }

 private:
  std::vector<Curve> curves_;
  std::set<double> places_;
};

View curves_figure(Curves labels, CurveSet&& set) {
  labels.curves = set.take();
  return {{"curves_view", figure(labels)}, {"caption", labels.description}};
}

void add_scaling(View& figures, const Group& group) {
  CurveSet time, memory;
  for (const Part* const part : group.parts) {
    const MachineInfo& machine = part->archive.machine;
    const std::string name = count_of(machine.threads, "thread") + " a rank";
    time.add(name, {static_cast<double>(cores_of(*part)), whole_seconds(part->archive)});
    memory.add(name, {static_cast<double>(machine.ranks), static_cast<double>(machine.peak_memory) / mebibyte});
  }
  const std::string statement = "statement " + group.name;
  if (time.shows_something()) {
    time.add_ideal({static_cast<double>(cores_of(group.base())), drawable(whole_seconds(group.base().archive))});
    figures.push_back(curves_figure({"Proving time over ranks × threads, " + statement,
                                     "Seconds to prove " + statement + " over the number of its threads in all ranks.",
                                     "ranks × threads",
                                     "seconds",
                                     {}},
                                    std::move(time)));
  }
  if (memory.shows_something()) {
    figures.push_back(
        curves_figure({"Memory over ranks, " + statement,
                       "Peak memory of the largest rank in MiB over the number of ranks, " + statement + ".",
                       "ranks",
                       "MiB a rank",
                       {}},
                      std::move(memory)));
  }
}

/// Beginnings only: what a continuation costs depends on what it continues.
void add_lengths(View& figures, const Parts& parts, const Digest& key) {
  CurveSet curves;
  for (const Part* const part : parts) {
    const Statement& statement = part->archive.statement;
    if (part->archive.key_digest == key && !statement.start) {
      curves.add(
          machine_of(*part) + " ranks × threads",
          {static_cast<double>(statement.prompt.size() + statement.generated.size()), whole_seconds(part->archive)});
    }
  }
  if (curves.shows_something()) {
    const std::string name = to_hex(key).substr(0, 8);
    figures.push_back(
        curves_figure({"Proving time over tokens, key " + name,
                       "Seconds over prompt and generated tokens of proofs that continue nothing, of key " + name + ".",
                       "tokens",
                       "seconds",
                       {}},
                      std::move(curves)));
  }
}

}  // namespace

std::string verdict_of(const Part& part) {
  return !part.verification ? "unverified" : part.verification->accepted ? "accepted" : "rejected";
}

std::string name_of(const Part& part, std::size_t number, bool several) {
  return (several ? std::to_string(number) + ". " : "") + shown(part.file);
}

View summary_view(const Report& report) {
  View rows = View::array();
  auto unusable = report.unusable.begin();
  const auto add_unusable = [&](std::size_t place) {
    for (; unusable != report.unusable.end() && unusable->place <= place; ++unusable) {
      rows.push_back({{"file", shown(unusable->file)},
                      {"verdict", "unusable"},
                      {"why", shown(unusable->problem)},
                      {"is_proof", false}});
    }
  };
  const Parts parts = all_parts(report);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    add_unusable(i);
    const Part* const part = parts[i];
    const auto& verification = part->verification;
    const SoundnessReport& soundness = soundness_of(*part);
    const bool known = !soundness.entries.empty() && (!verification || verification->soundness);
    rows.push_back({{"is_proof", true},
                    {"file", name_of(*part, i + 1, parts.size() > 1)},
                    {"verdict", verdict_of(*part)},
                    {"tokens", tokens_of(part->archive.statement)},
                    {"least", known ? fixed(shown_bits(soundness.round_by_round_bits()), 1) : "–"},
                    {"bytes", grouped(part->archive.payload.size())},
                    {"prove", duration(whole_seconds(part->archive))},
                    {"machine", machine_of(*part)},
                    {"peak", mebibytes(part->archive.machine.peak_memory)},
                    {"verify", verification ? duration(verification->seconds) : "–"},
                    {"why", verification && !verification->accepted
                                ? View("at " + shown(verification->scope) + ": " + shown(verification->reason))
                                : View(false)}});
  }
  add_unusable(parts.size());
  return rows;
}

View comparison_view(const Report& report) {
  const Parts parts = all_parts(report);
  if (parts.size() < 2) {
    return false;
  }
  const std::vector<Group> groups = groups_of(parts);
  View rows = View::array();
  View figures = View::array();
  std::set<Digest> keys;
  for (const Group& group : groups) {
    for (const Part* const part : group.parts) {
      rows.push_back(row_view(*part, group));
    }
    add_scaling(figures, group);
    keys.insert(group.archive().key_digest);
  }
  for (const Digest& key : keys) {
    add_lengths(figures, parts, key);
  }
  return {{"compared", rows}, {"groups", group_views(groups)}, {"comparison_figures", figures}};
}

}  // namespace tessera::report
