#!/usr/bin/env bash
# Digests and sizes in README.md and the guide are those that their readers get.
source "$(dirname "$0")/common.sh"
unset OMP_NUM_THREADS
shown="" # of what the pages' commands print
keep() { "$@" >printed || fail "$*"; shown+=$(<printed)$'\n'; }

keep tessera import --quiet --checkpoint "$source/configs/gutenberg-2m" --out model.h5
keep tessera commit --quiet --model model.h5 --out commitment
keep ranks 2 tessera prove --quiet --model model.h5 --commitment commitment --prompt "It was a bright morning, and" --generate 32 --out proof.h5
keep ranks 2 tessera prove --quiet --config "$source/configs/demo.toml" --model model.h5 --commitment commitment --out proof.h5
keep tessera import --quiet --checkpoint "$source/configs/gutenberg-llama-3m" --out llama.h5
keep tessera commit --quiet --model llama.h5 --out llama --compact
keep ranks 2 tessera prove --quiet --config "$source/configs/demo.toml" --model llama.h5 --commitment llama --out llama.proof.h5

# the published model's digest is models/models_test.sh's
published=4cd62cfcbe065aac694a8b399ee67429d77016e5099496e131382f8b3de5d2ea
grep -q "$published" "$source/tests/models/models_test.sh" || fail "no test of the published model's digest"
for text in $(grep -ohE '\b[0-9a-f]{64}\b|proof of [0-9]+ bytes, [0-9]+ \+ [0-9]+ tokens' "$source"/README.md "$source"/src/guide/*.md |
    tr ' ' _ | sort -u); do
  text=${text//_/ }
  [ "$text" = "$published" ] || grep -qF "$text" <<<"$shown" || fail "the pages say '$text', their commands do not: $shown"
done
finish
