#!/usr/bin/env bash
# What proofs cost on clusters that are not here: times, efficiency and memory by number of ranks as tessera plan predicts
# them, as a table and as figures (src/guide/scaling.md shows them).
# Usage: jobs/scale.sh [--rates FILE] [--out FOLDER] [--simulate RANKS,RANKS..]
#   --rates FILE       rates of a core, as tessera plan --measure writes them (default: measured now, on a quiet machine)
#   --out FOLDER       where plans, figures and the table go (build-bench/scale)
#   --simulate RANKS   also proofs of the bundled model, 112 + 16 tokens, by so many ranks on a cluster that SimGrid
#                      simulates, beside what is predicted for them; all ranks' work is this machine's
# Exit codes: 0 done, 2 wrong usage or unusable input, 3 a build or a run failed.
set -euo pipefail
script=$(realpath "$0")
usage() {
  sed -n 's/^# Usage/usage/p' "$script" >&2
  echo "scale: $1" >&2
  exit 2
}
rates='' out='' simulate=''
while [ $# -gt 0 ]; do
  case $1 in
    --rates | --out | --simulate) [ -n "${2:-}" ] || usage "$1: expected a value, found none" ;;
    *) usage "unknown option $1" ;;
  esac
  case $1 in
    --rates) rates=$(realpath -m "$2") ;;
    --out) out=$(realpath -m "$2") ;;
    --simulate) simulate=$2 ;;
  esac
  shift 2
done
[ -z "$rates" ] || [ -r "$rates" ] || usage "--rates: $rates: expected a file, found none"
[[ $simulate =~ ^([1-9][0-9]{0,3}(,[1-9][0-9]{0,3})*)?$ ]] || usage "--simulate: expected numbers of ranks, found $simulate"

cd "$(dirname "$script")/.."
source jobs/packages.sh
export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=1000 # as tessera has it
build=build-bench
out=${out:-$PWD/$build/scale}
simgrid=OFF targets=(tessera processor_clock)
install_packages "${packages[@]}" "${bench_packages[@]}" "${scale_packages[@]}" || exit 3
if [ -n "$simulate" ]; then
  install_packages "${simulate_packages[@]}" || exit 3
  simgrid=ON targets+=(simulate_cluster)
fi
mkdir -p "$build" "$out"
{ cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF -DTESSERA_BENCHMARKS=ON \
  -DTESSERA_SIMGRID=$simgrid && cmake --build "$build" --target "${targets[@]}"; } >"$build/build.log" 2>&1 ||
  { tail -n 40 "$build/build.log" >&2; exit 3; }

if [ -z "$rates" ]; then
  rates=$out/rates.json
  # processor times: what else runs here does not matter
  for ranks in 1 2; do
    mpirun -n $ranks -x LD_PRELOAD="$PWD/$build/tests/bench/processor_clock.so" "$build/tessera" plan --measure \
      --threads 1 --out "$rates" || exit 3
  done
fi

# plan NAME SHAPE TOKENS RANKS NODES: one file a number of ranks, of one thread each. Of a length that prove refuses there
# is a plan, too, with exit code 2.
plan() {
  local code=0
  "$build/tessera" plan --quiet --json --shape "configs/$2" --tokens "$3" --ranks "$4" --nodes "$5" --threads 1 \
    --gigabits 100 --microseconds 2 --rates "$rates" >"$out/$1-$4.json" || code=$?
  [ $code -eq 0 ] || { [ $code -eq 2 ] && [ -s "$out/$1-$4.json" ]; } || exit $code
}
rm -f "$out"/*-[0-9]*.json
for ranks in 1 4 16 64 256; do
  plan gpt2 gpt2.json 448+64 $ranks $(((ranks + 15) / 16))
  plan llama-7b llama-2-7b.json 960+64 $ranks $(((ranks + 15) / 16))
done
for ranks in ${simulate//,/ }; do
  nodes=$(((ranks + 15) / 16))
  plan simulated gutenberg-2m/config.json 112+16 "$ranks" $nodes
  "$build/tests/simgrid/simulate_cluster" --shape configs/gutenberg-2m/config.json --prompt 112 --generate 16 \
    --ranks "$ranks" >"$out/simulation-$ranks.json" || exit 3
done
/usr/bin/python3 jobs/scale.py "$out" # which Debian's matplotlib is for
