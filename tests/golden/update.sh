#!/usr/bin/env bash
# Makes the golden files anew from the current build, with new exponents: tests/golden/update.sh [BUILD [MODELS]]. A new format
# version goes with it.
cd "$(dirname "$0")/../.." && source tests/golden/prove.sh && golden_files "$(realpath "${1:-build}")" tests/golden "${2:-}"
