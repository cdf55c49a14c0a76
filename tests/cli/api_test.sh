#!/usr/bin/env bash
# A program that sees include/tessera/ alone reads, verifies and makes the proofs of the programs.
source "$(dirname "$0")/common.sh"
export TESSERA_EMBED=$PWD
tessera import --checkpoint "$source/configs/odd-40k" --out model.h5 --quiet >/dev/null || fail "import"
tessera commit --model model.h5 --out commitment --quiet >/dev/null || fail "commit"
tessera prove --model model.h5 --commitment commitment --tokens 17,42,5 --generate 4 --out proof.h5 --quiet >/dev/null ||
  fail "prove"
"$programs/tests/test_embed" >embed.log || { cat embed.log; fail "embedding program"; }
finish
