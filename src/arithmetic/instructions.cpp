#include "arithmetic/instructions.hpp"

#include <array>
#include <atomic>
#include <string>

#include "base/errors.hpp"
#include "field/instruction_set-inl.hpp"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 4> instruction_names{"scalar", "avx2", "avx512", "ifma"};

/// Highway's function makes dispatch choose among all that the processor has, disabled or not.
std::int64_t usable_targets() {
  const std::int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(targets);
  return targets;
}

Instructions widest_instructions() {
  const std::int64_t targets = usable_targets();
  return (targets & HWY_AVX3_DL) != 0 && ice_lake_is_there ? Instructions::ifma
         : (targets & HWY_AVX3) != 0                       ? Instructions::avx512
         : (targets & HWY_AVX2) != 0                       ? Instructions::avx2
                                                           : Instructions::scalar;
}

std::atomic<Instructions>& chosen_instructions() {
  static std::atomic<Instructions> chosen{widest_instructions()};
  return chosen;
}

}  // namespace

std::string_view name_of(Instructions set) { return instruction_names[static_cast<std::size_t>(set)]; }

Instructions instructions_in_use() { return chosen_instructions().load(std::memory_order_relaxed); }

void limit_instructions(Instructions widest) {
  if (widest >= instructions_in_use()) {
    return;
  }
  // Highway's better sets have lower bits.
  hwy::DisableTargets(widest == Instructions::scalar ? 2 * HWY_AVX2 - 1
                      : widest == Instructions::avx2 ? HWY_AVX2 - 1
                                                     : HWY_AVX3 - 1);
  usable_targets();
  chosen_instructions().store(widest, std::memory_order_relaxed);
}

void limit_instructions(std::string_view name) {
  for (std::size_t set = 0; set < instruction_names.size(); ++set) {
    if (name == instruction_names[set]) {
      return limit_instructions(static_cast<Instructions>(set));
    }
  }
  throw InputError("TESSERA_INSTRUCTIONS: expected scalar, avx2, avx512 or ifma, found " + std::string(name));
}

}  // namespace tessera
