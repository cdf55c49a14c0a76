#!/usr/bin/env bash
# Everything that guards main: packages, formatting, release build (benchmarks too) and all tests, clang-tidy of the
# verifier, sanitizer build and its tests.
# Usage: jobs/test.sh [--tidy] [--quick] [--cluster] [--packages]
#   --tidy      clang-tidy of everything
#   --quick     no sanitizer build, no clang-tidy
#   --cluster   also the jobs under a SLURM of four nodes on this machine (needs root)
#   --packages  also the Debian packages, installed in a bare Debian 12 (needs root)
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
tidy=0 quick=0 cluster=0 debian=0
for argument in "$@"; do
  case $argument in
    --tidy) tidy=1 ;;
    --quick) quick=1 ;;
    --cluster) cluster=1 ;;
    --packages) debian=1 ;;
    *) echo "usage: jobs/test.sh [--tidy] [--quick] [--cluster] [--packages]" >&2; exit 2 ;;
  esac
done
step() { printf '\n== %s\n' "$*"; }

install_packages "${packages[@]}" "${bench_packages[@]}" clang-format clang-tidy python3-h5py "${manual_packages[@]}"
[ $cluster -eq 0 ] || install_packages "${cluster_packages[@]}"
jobs=$(nproc)

step "clang-format"
git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h' | xargs -r clang-format --dry-run --Werror
echo "formatted"

step "release build"
cmake -S . -B build-test -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=ON -DTESSERA_BENCHMARKS=ON
cmake --build build-test -j "$jobs"

# what a proof's reader relies on, or all
checked=(src/base src/field src/hash src/tensor src/tokenizer src/transcript src/sumcheck src/lookup src/commitment src/parameters src/plan
  src/subprotocols src/layers src/architecture src/protocol src/archive src/api)
if [ $tidy -eq 1 ]; then
  step "clang-tidy"
  git ls-files 'src/*.cpp' | xargs -r -n 4 -P "$jobs" clang-tidy -p build-test --quiet --warnings-as-errors='*'
elif [ $quick -eq 0 ]; then
  step "clang-tidy: the verifier's code"
  git ls-files "${checked[@]}" | grep '\.cpp$' | grep -Ev '(prove|infer|witness)\.cpp$' |
    xargs -r -n 4 -P "$jobs" clang-tidy -p build-test --quiet --warnings-as-errors='*'
fi

if [ $quick -eq 0 ]; then
  step "address and undefined-behaviour sanitizers: build and tests"
  cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=None -DTESSERA_SANITIZE=ON -DTESSERA_TESTS=ON
  cmake --build build-sanitize -j "$jobs"
  # tests labelled "slow" are for the release build
  ctest --test-dir build-sanitize --output-on-failure -j "$jobs" -LE slow
fi

step "all tests, release build"
ctest --test-dir build-test --output-on-failure -j "$jobs"

if [ $cluster -eq 1 ]; then
  step "jobs under SLURM, four nodes"
  bash tests/cluster_jobs/jobs_test.sh build-test "$(command -v mpirun)" .
fi

if [ $debian -eq 1 ]; then
  step "Debian packages"
  jobs/package.sh
  bash tests/package/package_test.sh build-package .
fi
