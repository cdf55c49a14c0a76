#include "transcript/account.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "field/extension.hpp"

namespace tessera {
namespace {

struct UnitForm {
  std::size_t bytes;
  std::string_view name;
};
constexpr std::array<UnitForm, 5> units{{{16, "E"}, {8, "F"}, {32, "digest"}, {8, "nonce"}, {1, "byte"}}};

/// Chances that one entry of the report adds up.
struct Group {
  const Account::Chance* first;
  std::size_t count = 0;
  double error = 0;
};

}  // namespace

std::size_t Account::Message::bytes() const { return units[static_cast<std::size_t>(unit)].bytes * count; }

std::string_view Account::Message::unit_name() const { return units[static_cast<std::size_t>(unit)].name; }

std::size_t Account::bytes() const {
  return std::accumulate(messages.begin(), messages.end(), std::size_t{0},
                         [](std::size_t sum, const Message& message) { return sum + message.bytes(); });
}

SoundnessReport Account::soundness() const {
  const double field_bits = 2 * std::log2(static_cast<double>(F::modulus));
  std::vector<Group> groups;
  for (const Chance& chance : chances) {
    if (chance.error == 0 && chance.bits == 0) {
      continue;  // plugged into a constant
    }
    const auto same = [&](const Group& group) {
      const Chance& other = *group.first;
      return chance.bits == 0 && other.bits == 0 && chance.work == other.work && chance.reason == other.reason &&
             chance.path == other.path;
    };
    // the group that a chance belongs to is mostly the last one
    const auto found = std::find_if(groups.rbegin(), groups.rend(), same);
    Group& group = found == groups.rend() ? groups.emplace_back(Group{&chance}) : *found;
    ++group.count;
    group.error += chance.error;
  }
  SoundnessReport report;
  for (const Group& group : groups) {
    const Chance& chance = *group.first;
    const double bits = chance.bits > 0 ? chance.bits : field_bits - std::log2(group.error);
    const std::string times = group.count > 1 ? ", " + std::to_string(group.count) + " times" : "";
    report.entries.push_back({chance.path, chance.reason + times, bits + chance.work});
  }
  return report;
}

}  // namespace tessera
