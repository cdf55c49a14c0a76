#!/usr/bin/env bash
# Makes the generated tables of src/spec anew from the current build: tests/golden/update_page.sh [BUILD].
cd "$(dirname "$0")/../.." && source tests/golden/page.sh
folder=$(mktemp -d)
golden_keys tests/golden "$folder"
for page in src/spec/*.md; do
  generated_page "${1:-build}" "$folder" "$page" >"$folder/page" && cat "$folder/page" >"$page" || break
done
rm -r "$folder"
