#include "layers/cache/claims.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

QkvClaims run(ProverContext& context, const CachePlan& cache, const AttentionClaims& claims) {
  return cache_claims<E>(context, cache, claims, [&] { return context.transcript.challenge("rho"); });
}

}  // namespace tessera
