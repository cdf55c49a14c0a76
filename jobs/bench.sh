#!/usr/bin/env bash
# Benchmarks: kernels alone and whole runs. A table on the terminal, all numbers in a JSON file.
# Usage: jobs/bench.sh [--gpt2 [LENGTHS]] [--only kernels|runs] [--threads N] [--out FILE] [--compare EARLIER.json]
#        jobs/bench.sh --kernels [--out FILE] [--compare EARLIER.json]
#        jobs/bench.sh --serial [LENGTH]
#        jobs/bench.sh --lengths [FOLDER] [--threads N] [--out FILE]
#   --gpt2 [LENGTHS]   also a model of GPT-2 small's shape; LENGTHS: prompt+generated tokens, of which the
#                      default has some that people have and some round ones
#   --only WHAT        kernels alone, or whole runs alone
#   --threads N        kernels on 1 and N threads; runs on 1 rank of N threads and N ranks of 1 thread (2)
#   --out FILE         JSON file to write (build-bench/bench.json)
#   --compare FILE     afterwards: numbers of an earlier JSON file, the new ones and their ratios side by side
#   --kernels          only this: kernels by one thread with each instruction set that this processor has, beside what
#                      its instructions and its memory allow (build-bench/kernels.json; earlier ones in
#                      tests/bench/tables)
#   --serial [LENGTH]  only this: what one thread does alone in a proof of GPT-2 small's shape (448+64), scope by scope,
#                      and the speed on many threads that follows
#   --lengths [FOLDER] only this: time and memory of proofs of a small model at 16, 23, 30 .. 1,100 tokens, of three of
#                      each the one that took least, drawn beside the JSON file (build-bench/lengths.json, .svg);
#                      FOLDER: the programs of another build, likewise
# Exit codes: 0 done, 2 wrong usage or unusable input, 3 a build or a run failed.
set -euo pipefail
script=$(realpath "$0")
usage() {
  sed -n 's/^# Usage/usage/p; s/^#\(        jobs.*\)/\1/p' "$script" >&2
  echo "bench: $1" >&2
  exit 2
}

gpt2='' only='' threads='' out='' earlier='' serial='' lengths='' against='' kernels=''
while [ $# -gt 0 ]; do
  option=$1
  shift
  case $option in
    --gpt2)
      gpt2=16+16,37+12,97+32,181+32,448+64,468+64,636+64,896+128
      if [ -n "${1:-}" ] && [ "${1#--}" = "$1" ]; then
        gpt2=$1
        shift
      fi
      continue
      ;;
    --kernels)
      kernels=1
      continue
      ;;
    --serial)
      serial=448+64
      if [ -n "${1:-}" ] && [ "${1#--}" = "$1" ]; then
        serial=$1
        shift
      fi
      continue
      ;;
    --lengths)
      lengths=1
      if [ -n "${1:-}" ] && [ "${1#--}" = "$1" ]; then
        against=$(realpath -m "$1")
        shift
      fi
      continue
      ;;
    --only | --threads | --out | --compare) [ -n "${1:-}" ] || usage "$option: expected a value, found none" ;;
    *) usage "unknown option $option" ;;
  esac
  case $option in
    --only) only=$1 ;;
    --threads) threads=$1 ;;
    --out) out=$(realpath -m "$1") ;;
    --compare) earlier=$(realpath -m "$1") ;;
  esac
  shift
done
[[ $only =~ ^(|kernels|runs)$ ]] || usage "--only: expected kernels or runs, found $only"
[[ ${threads:-2} =~ ^[1-9][0-9]{0,2}$ ]] || usage "--threads: expected 1 to 999, found $threads"
[ -z "$gpt2" ] || [ "$only" != kernels ] || usage "--gpt2: these are whole runs, found --only kernels"
number='[1-9][0-9]{0,3}'
[[ $gpt2 =~ ^($number\+$number(,$number\+$number)*)?$ ]] ||
  usage "--gpt2: expected lengths like 16+16,448+64, found $gpt2"
[[ $serial =~ ^($number\+$number)?$ ]] || usage "--serial: expected a length like 448+64, found $serial"
[ -z "$kernels" ] || [ -z "$gpt2$only$threads$serial$lengths" ] ||
  usage "--kernels: expected no other option than --out and --compare"
[ -z "$serial" ] || [ -z "$gpt2$only$out$earlier" ] || usage "--serial: expected no other option beside it"
for length in ${gpt2//,/ } $serial; do
  [ $((${length%+*} + ${length#*+})) -le 1024 ] ||
    usage "--${serial:+serial}${gpt2:+gpt2}: expected at most 1024 tokens together, found $length"
done
[ -z "$lengths" ] || [ -z "$gpt2$only$earlier$serial" ] ||
  usage "--lengths: expected no other option than --threads and --out"
[ -z "$against" ] || [ -x "$against/tessera" ] || usage "--lengths: $against/tessera: expected a program, found none"
[ -z "$earlier" ] || [ -r "$earlier" ] || usage "--compare: $earlier: expected a file, found none"
[ -z "$out" ] || { [ -w "$(dirname "$out")" ] && [ ! -d "$out" ]; } ||
  usage "--out: $out: expected a file that can be written"

cd "$(dirname "$script")/.."
source jobs/packages.sh
export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=10000 # as tessera has it: the kernels' benchmarks, too
threads=${threads:-2}
build=build-bench
name=bench
[ -z "$lengths" ] || name=lengths
[ -z "$kernels" ] || name=kernels
out=${out:-$PWD/$build/$name.json}
step() { printf '== %s\n' "$*" >&2; }

install_packages "${packages[@]}" "${bench_packages[@]}" ${lengths:+"${figure_packages[@]}"} || exit 3
[ -z "$earlier" ] || python3 jobs/bench.py show "$earlier" >/dev/null || exit 2

step "build"
mkdir -p "$build"
targets=(tessera tessera-verify bench_kernels processor_clock)
[ -z "$kernels" ] || targets=(bench_sets)
{ cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF -DTESSERA_BENCHMARKS=ON &&
  cmake --build "$build" --target "${targets[@]}"; } >"$build/build.log" 2>&1 ||
  { tail -n 40 "$build/build.log" >&2; exit 3; }

if [ -n "$kernels" ]; then
  python3 jobs/bench.py kernels --build "$build" --out "$out" ${earlier:+--compare "$earlier"}
  exit
fi
if [ -n "$serial" ]; then
  python3 jobs/bench.py serial --build "$build" --length "$serial"
  exit
fi
if [ -n "$lengths" ]; then
  # /usr/bin/python3 is what Debian's matplotlib is for
  /usr/bin/python3 jobs/bench.py lengths --build "$build" --out "$out" --threads "$threads" --figure "${out%.json}.svg" \
    ${against:+--against "$against"}
  exit
fi
python3 jobs/bench.py collect --build "$build" --out "$out" --threads "$threads" ${only:+--only "$only"} \
  ${gpt2:+--gpt2 "$gpt2"} ${earlier:+--compare "$earlier"}
