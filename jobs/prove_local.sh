#!/usr/bin/env bash
# Proves one text with mpirun on this machine, without SLURM.
#   MODEL=model.h5 COMMITMENT=commitment PROMPT="..." GENERATE=32 OUT=proof.h5 jobs/prove_local.sh
# MODEL, COMMITMENT  model file, directory written by commit
# PROMPT, GENERATE   text to continue, number of tokens to generate
# OUT                proof file to write
# RANKS, THREADS     ranks, and threads of each (default: a rank for each NUMA node, and the cores shared by the ranks; given
#                    one of both, the other is cores divided by it)
# BUILD              folder of the programs (default: build)
# Exit codes: 0 accepted, 1 rejected, 2 wrong usage or unusable input, 3 or above 128 failed. OUT is written whole or not at all.
set -euo pipefail

(: "${MODEL:?}" "${COMMITMENT:?}" "${PROMPT:?}" "${GENERATE:?}" "${OUT:?}") || exit 2
BUILD=${BUILD:-build}
cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # nproc itself would heed these
for name in RANKS THREADS; do
  [[ ${!name:-1} =~ ^[1-9][0-9]{0,3}$ ]] || { echo "prove_local: $name: expected 1 to 9999, found ${!name}" >&2; exit 2; }
done
if [ -z "${RANKS:-}${THREADS:-}" ]; then
  RANKS=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | wc -l)
  [ "$RANKS" -ge 1 ] && [ "$RANKS" -le "$cores" ] || RANKS=1
fi
RANKS=${RANKS:-$((cores / THREADS))}
THREADS=${THREADS:-$((cores / RANKS))}
[ "$RANKS" -ge 1 ] && [ "$THREADS" -ge 1 ] && [ $((RANKS * THREADS)) -le "$cores" ] ||
  { echo "prove_local: RANKS x THREADS: expected at most $cores, the cores, found $RANKS x $THREADS" >&2; exit 2; }
export OMPI_MCA_hwloc_base_binding_policy=none   # threads share the cores
export OMPI_MCA_rmaps_base_oversubscribe=1       # Open MPI counts cores, nproc hardware threads
export OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_orte_execute_quiet=1

code=0
mpirun -n "$RANKS" "$BUILD/tessera" prove --threads "$THREADS" --model "$MODEL" --commitment "$COMMITMENT" \
  --prompt="$PROMPT" --generate "$GENERATE" --out "$OUT" || code=$?
[ $code -ne 1 ] || code=3 # mpirun's own failure: only a verifier rejects
[ $code -eq 0 ] || exit $code
"$BUILD/tessera-verify" --key "$COMMITMENT/verifying.key" "$OUT"
