#!/usr/bin/env bash
# The page that jobs/web.sh has written: the same verdicts as tessera-verify, and its behaviour in Chromium.
# Usage: tests/web/web_test.sh PROGRAMS PAGE_FOLDER [SCREENSHOTS]
#   PROGRAMS      folder of tessera, tessera-verify, tests/craft and tests/unicode_probe
#   PAGE_FOLDER   of verify.html and verifier.wasm
#   SCREENSHOTS   where pictures of the page go (default: PAGE_FOLDER/screenshots)
set -euo pipefail
programs=$(realpath "$1") page=$(realpath "$2")
pictures=$(realpath -m "${3:-$page/screenshots}")
cd "$(dirname "$0")/../.."
source jobs/packages.sh
install_packages "${web_test_packages[@]}"
source tests/browser/npm.sh
npm_packages "$page/npm"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
NODE_PATH=/usr/share/nodejs cmake --build "$page" --target unicode_probe
diff <("$programs/tests/unicode_probe") <(node "$page/unicode_probe.js") >&2
echo "the same of every character of Unicode"
OMP_WAIT_POLICY=passive /usr/bin/python3 tests/web/corpus.py "$programs" . "$scratch/corpus"
node tests/web/verdicts.mjs "$programs" "$scratch/corpus" src/web/page/worker.js "$page/verifier.wasm"
NODE_PATH=$page/npm/node_modules node tests/web/page.cjs "$page/verify.html" "$scratch/corpus" "$pictures"
