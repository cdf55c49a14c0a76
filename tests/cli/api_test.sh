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
# a model with values outside their ranges, under keys that allow none
for change in "u2 1" "mlp 1" "v 1" "q 1" "uf 1" "k 1" "u2 2" "mlp 2"; do
  craft exponent model.h5 narrow.h5 $change
  rm -rf narrow && tessera commit --exceptions 0 --model narrow.h5 --out narrow --quiet >/dev/null 2>&1 || continue
  tessera prove --model narrow.h5 --commitment narrow --tokens 17,42,5 --generate 4 --out none.h5 --quiet >program.log 2>&1 || break
done
grep -q 'outside .* of the quantized model$' program.log || fail "no model with values outside their ranges"
rm -f none.h5 # of changes that narrow nothing
tessera commit --hiding --proofs 2 --model narrow.h5 --out narrow-hidden --quiet >/dev/null || fail "commit --hiding"
tessera prove --model narrow.h5 --commitment narrow-hidden --tokens 17,42,5 --generate 4 --out none.h5 --quiet >program-hidden.log 2>&1
expect_absent none.h5
"$programs/tests/test_embed" >embed.log || { cat embed.log; fail "embedding program"; }
finish
