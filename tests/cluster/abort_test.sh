#!/usr/bin/env bash
# One rank alone fails: the job ends at once with its exit code, although the other ranks wait for it.
# Usage: abort_test.sh <mpirun> <tessera>
set -u
mpirun=$1 tessera=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
begin=$(date +%s)
timeout 60 "$mpirun" -n 3 "$tessera" commit --model "$scratch/none.h5" --out "$scratch/c" >"$scratch/out" 2>&1
code=$?
elapsed=$(($(date +%s) - begin))
cat "$scratch/out"
[ "$code" = 2 ] || { echo "expected exit code 2, found $code"; exit 1; }
[ "$(grep -c '^tessera: ' "$scratch/out")" = 1 ] || { echo "expected one line of error"; exit 1; }
[ "$elapsed" -le 20 ] || { echo "took $elapsed s"; exit 1; }
[ ! -e "$scratch/c" ] || { echo "left partial output"; exit 1; }
