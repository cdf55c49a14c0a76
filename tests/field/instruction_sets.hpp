#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace tessera::test {

/// Runs `body` once with each instruction set that this machine supports and the kernels are compiled for.
template <class Body>
void with_each_instruction_set(Body body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    body(hwy::TargetName(target));
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace tessera::test
