#!/usr/bin/env bash
# Makes the generated tables of src/README.md anew from the current build: tests/golden/update_page.sh [BUILD].
cd "$(dirname "$0")/../.." && source tests/golden/page.sh
folder=$(mktemp -d)
golden_keys tests/golden "$folder"
generated_page "${1:-build}" "$folder" src/README.md >"$folder/page" && cat "$folder/page" >src/README.md
rm -r "$folder"
