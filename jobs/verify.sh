#!/usr/bin/env bash
# Verifies a directory of proofs: a line for each, a count, and the exit code of all together. Needs no cluster and no MPI;
# `sbatch --nodes=1 --exclusive jobs/verify.sh` does the same as a job.
#   KEY=commitment/verifying.key PROOFS=proofs jobs/verify.sh
# KEY       the model's verifying key
# PROOFS    directory: every *.h5 in it and below
# PROMPTS   file that prove_array.sbatch had: each of its lines must have its archive (default: not checked)
# OPTIONS   more options of tessera-verify, such as --json or --expect-key DIGEST (default: none)
# PROCESSES that verify at a time (default: the cores)
# BUILD     folder of the programs (default: build)
# Exit codes: 0 all accepted; else 1 if any is rejected, else 3 if any failed, else 2 if any is unusable or missing, or the
# usage is wrong.
set -euo pipefail

(: "${KEY:?}" "${PROOFS:?}") || exit 2
BUILD=${BUILD:-build}

code=0
read -ra options <<<"${OPTIONS:-}"
[ -z "${PROCESSES:-}" ] || options+=(--jobs "$PROCESSES")
"$BUILD/tessera-verify" --key "$KEY" --each "${options[@]}" "$PROOFS" || code=$?
if [ -n "${PROMPTS:-}" ]; then
  [ -r "$PROMPTS" ] && [ ! -d "$PROMPTS" ] ||
    { echo "verify: PROMPTS: $PROMPTS: expected a file, found none that can be read" >&2; exit 2; }
  count=$(grep -c '' "$PROMPTS" || true)
  for ((line = 1; line <= count; line++)); do
    archive=$PROOFS/$(printf %06d $line).h5
    [ -e "$archive" ] && continue
    echo "MISSING $archive: line $line of $PROMPTS has no proof" >&2
    [ $code -ne 0 ] || code=2
  done
fi
exit $code
