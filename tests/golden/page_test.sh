#!/usr/bin/env bash
# The tables of the pages in src/spec are those that the code makes.
source "$(dirname "$0")/../cli/common.sh"
source "$source/tests/golden/page.sh"
golden_keys "$source/tests/golden" . || fail "keys"

for page in "$source"/src/spec/*.md; do
  generated_page "$programs" . "$page" >page || fail "describe"
  diff page "$page" || fail "$page differs from the code: run tests/golden/update_page.sh"
  [ "$(grep -c '^<!-- generated: ' page)" -eq "$(grep -c '^<!-- end -->$' page)" ] || fail "$page: markers are not paired"
  grep '^<!-- generated: ' page >>generated
done
printf '<!-- generated: %s -->\n' "${generated_names[@]}" | sort >names
sort generated | diff names - || fail "expected each generated table once"

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
