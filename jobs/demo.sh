#!/usr/bin/env bash
# From nothing to an accepted proof on a bare Debian 12 machine: installs, builds, imports the bundled model, commits to
# it, generates and proves a text on 2 ranks, and checks the proof with the separate verifier.
# Usage: jobs/demo.sh [DIRECTORY]     build and results go to DIRECTORY (default: build-demo)
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
out=${1:-build-demo}
run=$out/run

step() { printf '\n== %s\n' "$*"; }
show() { printf '$ %s\n' "$*" && "$@"; }

install_packages "${packages[@]}"

step "build"
cmake -S . -B "$out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESSERA_TESTS=OFF >"$out.log" 2>&1 || { cat "$out.log"; exit 3; }
rm -f "$out.log"
cmake --build "$out" --target tessera tessera-verify
mkdir -p "$run"

step "import: quantize the checkpoint"
show "$out/tessera" import --checkpoint configs/gutenberg-2m --out "$run/model.h5"

step "evaluate: integer perplexity beside float"
show "$out/tessera" evaluate --model "$run/model.h5" --text configs/gutenberg-2m/sample.txt

step "commit: parameter commitment and verifying key"
show "$out/tessera" commit --model "$run/model.h5" --out "$run/commitment"

step "prove: generate 32 tokens and prove them, 2 ranks"
show mpirun -n 2 "$out/tessera" prove --config configs/demo.toml --model "$run/model.h5" \
  --commitment "$run/commitment" --out "$run/proof.h5"

step "what it cost"
show "$out/tessera" inspect "$run/proof.h5"

step "verify: needs only the key and the proof"
show "$out/tessera-verify" --key "$run/commitment/verifying.key" "$run/proof.h5"
