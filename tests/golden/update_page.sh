#!/usr/bin/env bash
# Makes the generated tables of src/README.md anew from the current build: tests/golden/update_page.sh [BUILD].
cd "$(dirname "$0")/../.." && source tests/golden/page.sh
key=$(mktemp) page=$(mktemp)
gunzip -c tests/golden/odd-40k.key.gz >"$key"
generated_page "${1:-build}" "$key" src/README.md >"$page" && cat "$page" >src/README.md
rm "$key" "$page"
