#!/usr/bin/env bash
# Real proofs by many ranks on a cluster that SimGrid simulates: how well ranks scale, where there are fewer cores than
# ranks. A JSON object for each number of ranks: seconds by scope, and those of the network in them. All ranks' work is
# this machine's, one thread each, 16 ranks a node, 100 Gbit/s into a node, 2 us a message.
# Usage: jobs/simulate.sh [--shape CONFIG.json] [--length PROMPT+GENERATED] [RANKS..]
#   --shape FILE   the model's (configs/gutenberg-2m/config.json); its parameters are random
#   --length P+G   tokens (112+16)
#   RANKS          numbers of ranks (1 4 16)
# Exit codes: 0 done, 2 wrong usage or unusable input, 3 a build or a run failed.
set -euo pipefail
script=$(realpath "$0")
usage() {
  sed -n 's/^# Usage/usage/p' "$script" >&2
  echo "simulate: $1" >&2
  exit 2
}
shape='' length=112+16
while [[ ${1:-} == --* ]]; do
  case $1 in
    --shape | --length) [ -n "${2:-}" ] || usage "$1: expected a value, found none" ;;
    *) usage "unknown option $1" ;;
  esac
  case $1 in
    --shape) shape=$(realpath -m "$2") ;;
    --length) length=$2 ;;
  esac
  shift 2
done
[ $# -gt 0 ] || set -- 1 4 16
[ -z "$shape" ] || [ -r "$shape" ] || usage "--shape: $shape: expected a file, found none"
[[ $length =~ ^[1-9][0-9]{0,3}\+[1-9][0-9]{0,3}$ ]] || usage "--length: expected a length like 112+16, found $length"
for ranks; do
  [[ $ranks =~ ^[1-9][0-9]{0,3}$ ]] || usage "expected numbers of ranks, found $ranks"
done

cd "$(dirname "$script")/.."
source jobs/packages.sh
install_packages "${packages[@]}" "${simulate_packages[@]}" || exit 3
build=build-bench
mkdir -p "$build"
{ cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF -DTESSERA_SIMGRID=ON &&
  cmake --build "$build" --target simulate_cluster; } >"$build/build.log" 2>&1 ||
  { tail -n 40 "$build/build.log" >&2; exit 3; }
for ranks; do
  "$build/tests/simgrid/simulate_cluster" --shape "${shape:-configs/gutenberg-2m/config.json}" --prompt "${length%+*}" \
    --generate "${length#*+}" --ranks "$ranks"
done
