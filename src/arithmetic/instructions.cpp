#include "arithmetic/instructions.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string>

#include "base/errors.hpp"
#include "field/instruction_set-inl.hpp"

namespace tessera {
namespace {

/// A set of this architecture, and what Highway calls it.
struct NamedSet {
  std::string_view name;
  Instructions set;
  std::int64_t target;
};

constexpr NamedSet plain{"scalar", Instructions::scalar, HWY_BASELINE_SCALAR};
// from the narrowest to the widest
#if HWY_ARCH_X86
constexpr std::array sets{plain, NamedSet{"avx2", Instructions::avx2, HWY_AVX2},
                          NamedSet{"avx512", Instructions::avx512, HWY_AVX3},
                          NamedSet{"ifma", Instructions::ifma, HWY_AVX3_DL}};
#elif HWY_ARCH_ARM_A64
constexpr std::array sets{plain, NamedSet{"neon", Instructions::neon, HWY_NEON}};
#else
constexpr std::array sets{plain};
#endif

/// Highway's function makes dispatch choose among all that the processor has, disabled or not.
std::int64_t usable_targets() {
  const std::int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(targets);
  return targets;
}

Instructions widest_instructions() {
  const std::int64_t targets = usable_targets();
  const auto widest =
      std::find_if(sets.rbegin(), sets.rend() - 1, [=](const NamedSet& of) { return (targets & of.target) != 0; });
  return widest->set;
}

std::atomic<Instructions>& chosen_instructions() {
  static std::atomic<Instructions> chosen{widest_instructions()};
  return chosen;
}

/// "scalar, avx2 or ifma"
std::string names_of_sets() {
  std::string names(sets.front().name);
  for (std::size_t i = 1; i < sets.size(); ++i) {
    names.append(i + 1 < sets.size() ? ", " : " or ").append(sets[i].name);
  }
  return names;
}

}  // namespace

Instructions instructions_in_use() { return chosen_instructions().load(std::memory_order_relaxed); }

std::vector<std::string_view> instruction_names() {
  std::vector<std::string_view> names;
  for (const NamedSet& of : sets) {
    if (of.set <= instructions_in_use()) {
      names.push_back(of.name);
    }
  }
  return names;
}

void limit_instructions(Instructions widest) {
  if (widest >= instructions_in_use()) {
    return;
  }
  const auto wider = std::ranges::find_if(sets, [=](const NamedSet& of) { return of.set > widest; });
  hwy::DisableTargets(2 * wider->target - 1);  // Highway's better sets have lower bits
  usable_targets();
  chosen_instructions().store(std::prev(wider)->set, std::memory_order_relaxed);
}

void limit_instructions(std::string_view name) {
  const auto named = std::ranges::find(sets, name, &NamedSet::name);
  if (named == sets.end()) {
    throw InputError("TESSERA_INSTRUCTIONS: expected " + names_of_sets() + ", found " + std::string(name));
  }
  limit_instructions(named->set);
}

}  // namespace tessera
