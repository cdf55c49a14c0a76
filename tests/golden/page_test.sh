#!/usr/bin/env bash
# The tables of src/README.md are those that the code makes.
source "$(dirname "$0")/../cli/common.sh"
source "$source/tests/golden/page.sh"
golden_keys "$source/tests/golden" . || fail "keys"

generated_page "$programs" . "$source/src/README.md" >page || fail "describe"
diff page "$source/src/README.md" || fail "src/README.md differs from the code: run tests/golden/update_page.sh"
for name in limits declarations llama-declarations messages soundness; do
  grep -q "^<!-- generated: $name -->\$" page || fail "no generated $name"
done
[ "$(grep -c '^<!-- generated: ' page)" -eq "$(grep -c '^<!-- end -->$' page)" ] || fail "markers are not paired"

# the golden proof is one of those that describe speaks of
prompt=$(tessera inspect "$source/tests/golden/odd-40k.proof" | sed -n 's/^tokens *\([0-9]*\) prompt, 12 generated$/\1/p')
expect_same "$prompt" 7 "tokens of the golden prompt"
tessera describe --key odd-40k.key --prompt-length 7 --generate 12 --json >description.json || fail "describe --json"
least=$(sed -n 's/.*"most bytes of a proof": \([0-9]*\),/\1/p' description.json)
payload=$(tessera inspect "$source/tests/golden/odd-40k.proof" | sed -n 's/^payload *\([0-9]*\) bytes.*/\1/p')
[ "$payload" -le "$least" ] || fail "the golden proof has $payload bytes, at most $least are expected"
expect 0 '^ *word  ' tessera describe --key odd-40k.key --prompt-length 7 --generate 12
expect_error 2 'length: expected at most' tessera describe --key odd-40k.key --prompt-length 5000 --generate 12
finish
