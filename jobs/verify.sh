#!/usr/bin/env bash
# Verifies a directory of proofs, or an archive that `tessera gather` made of one: a line for each, a count, and the exit code of
# all together. Needs no cluster and, without ARCHIVE, no MPI;
# `sbatch --nodes=1 --exclusive jobs/verify.sh` does the same as a job.
#   KEY=commitment/verifying.key PROOFS=proofs jobs/verify.sh
# KEY       the model's verifying key
# PROOFS    directory: every *.h5 in it and below; or an archive of many proofs
# PROMPTS   file that prove_array.sbatch had, of texts or of ids: each of its lines must have its proof (default: not checked)
# ARCHIVE   file to gather the proofs of a directory into if all are there and accepted (default: none)
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
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$BUILD/tessera-verify" --key "$KEY" --each "${options[@]}" "$PROOFS" | tee "$output" || {
  status=("${PIPESTATUS[@]}")
  code=${status[0]}
  [ "$code" -ne 0 ] || code=3 # nobody has seen the lines
}
# in_archive NAME: a line of text or JSON is about this proof of an archive
in_archive() { grep -q -F -e "$PROOFS: $1" -e "\"entry\":\"$1\"" "$output"; }
if [ -n "${PROMPTS:-}" ]; then
  [ -r "$PROMPTS" ] && [ ! -d "$PROMPTS" ] ||
    { echo "verify: PROMPTS: $PROMPTS: expected a file, found none that can be read" >&2; exit 2; }
  count=$(grep -c '' "$PROMPTS" || true)
  for ((line = 1; line <= count; line++)); do
    name=$(printf %06d $line).h5
    [ ! -e "$PROOFS/$name" ] || continue
    [ -d "$PROOFS" ] || ! in_archive "$name" || continue
    echo "MISSING $PROOFS/$name: line $line of $PROMPTS has no proof" >&2
    [ $code -ne 0 ] || code=2
  done
fi
if [ -n "${ARCHIVE:-}" ] && [ $code -eq 0 ]; then
  "$BUILD/tessera" gather --quiet "$PROOFS" --out "$ARCHIVE" || code=$?
fi
exit $code
