#!/usr/bin/env bash
# A program that sees include/tessera/ alone reads, verifies and makes the proofs of the programs.
source "$(dirname "$0")/common.sh"
export TESSERA_EMBED=$PWD
tessera import --checkpoint "$source/configs/odd-40k" --out model.h5 --quiet >/dev/null || fail "import"
tessera commit --model model.h5 --out commitment --quiet >/dev/null || fail "commit"
tessera prove --model model.h5 --commitment commitment --tokens 17,42,5 --generate 4 --out proof.h5 --quiet >/dev/null ||
  fail "prove"
# commitments that are not what their keys say: of other columns, and with another secret
cp -r commitment damaged
head -c 1000000 /dev/zero | dd of=damaged/codeword-00000.h5 bs=1000 seek=500 conv=notrunc status=none
tessera commit --hiding --proofs 2 --model model.h5 --out hidden --quiet >/dev/null || fail "commit --hiding"
head -c 32 /dev/urandom >hidden/secret
"$programs/tests/test_embed" >embed.log || { cat embed.log; fail "embedding program"; }
finish
