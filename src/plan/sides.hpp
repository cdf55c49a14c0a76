#pragma once

/// \file
/// For files named both.cpp, or whose names end so: a layer's text that is the same for prover and verifier. They are
/// compiled for each side, as templates over the side's context, and begin with this header.

#ifdef TESSERA_PROVER_SIDE
#include "plan/prover_context.hpp"
/// INSTANTIATE(Side) for each context of the side that is compiled.
#define TESSERA_FOR_SIDES(INSTANTIATE) INSTANTIATE(ProverContext)
#else
#include "plan/context.hpp"
#define TESSERA_FOR_SIDES(INSTANTIATE) \
  INSTANTIATE(VerifierContext<E>)      \
  INSTANTIATE(VerifierContext<Affine>)
#endif
