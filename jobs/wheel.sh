#!/usr/bin/env bash
# The verifier as a Python wheel, for this machine's Python and any Linux whose glibc is not older than this machine's: the
# libraries that it needs are inside.
# Usage: jobs/wheel.sh [DIRECTORY]     the wheel goes to DIRECTORY/dist (default: build-wheel)
set -euo pipefail
cd "$(dirname "$0")/.."
source jobs/packages.sh
install_packages "${verifier_packages[@]}" "${python_packages[@]}"
out=$(realpath -m "${1:-build-wheel}")
python3 -m venv "$out/tools"
export PATH=$out/tools/bin:$PATH
pip install -q --disable-pip-version-check "${wheel_requirements[@]}"
rm -rf "$out/plain" "$out/dist"
pip wheel -q --disable-pip-version-check --no-deps --config-settings=build-dir="$out/build" -w "$out/plain" ./src/python
auditwheel repair -w "$out/dist" "$out"/plain/tessera-*.whl 2>"$out/log" || { cat "$out/log" >&2; exit 3; }
ls "$out/dist"
