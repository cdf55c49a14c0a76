#!/usr/bin/env bash
# What has been generated elsewhere: prove --expect, --expect-ids.
source "$(dirname "$0")/common.sh"
odd="$source/configs/odd-40k"

tessera import --quiet --checkpoint "$odd" --out model.h5 >/dev/null || fail "import"
tessera commit --quiet --model model.h5 --out commitment >/dev/null || fail "commit"
prove_of() { tessera prove --quiet --model model.h5 --commitment commitment "$@"; }
# ids_of FILE: what a first part's proof says was generated.
ids_of() { verify --key commitment/verifying.key --json "$1" | python3 -c 'import json,sys
print(",".join(map(str, json.load(sys.stdin)["proofs"][0]["generated"]["ids"])))'; }

prove_of --prompt "The old man" --generate 12 --out made.h5 >/dev/null || fail "prove"
ids_of made.h5 >ids.txt
made=$(payload_digest made.h5)

# the same proof, on any ranks, with a state and from one, in passes
expect 0 '^expected.h5: proof of [0-9]+ bytes, [0-9]+ \+ 12 tokens' prove_of --prompt "The old man" --expect-ids ids.txt --out expected.h5
expect_same "$(payload_digest expected.h5)" "$made" "expected ids"
expect 0 '12 tokens' ranks 3 tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old man" \
  --expect-ids ids.txt --out ranks.h5
expect_same "$(payload_digest ranks.h5)" "$made" "expected ids on three ranks"
for expected in "--generate 5" "--expect-ids five.txt"; do
  prove_of --prompt "The old man" $expected --keep "state${expected:2:1}" --out first.h5 >/dev/null || fail "prove $expected"
  [ -s five.txt ] || ids_of first.h5 >five.txt
  first=$(payload_digest first.h5)
  expect_same "$first" "${first_before:=$first}" "$expected"
done
prove_of --continue stateg --prompt " and" --generate 4 --pass-length 2 --out second.h5 >/dev/null || fail "continue"
"$programs/tessera" inspect --json second.h5 | python3 -c 'import json, sys
print(",".join(map(str, json.load(sys.stdin)["generated"])))' >four.txt
prove_of --continue statee --prompt " and" --expect-ids four.txt --pass-length 2 --out expected2.h5 >/dev/null || fail "continue"
expect_same "$(payload_digest expected2.h5)" "$(payload_digest second.h5)" "a continuation"

# a text, with and without a line end
"$programs/tessera" inspect --json made.h5 | python3 -c '
import json, sys
text = json.load(sys.stdin)["text"]
open("text.txt", "w").write(text[len("The old man"):])
open("line.txt", "w").write(text[len("The old man"):] + "\n")' || fail "text of the proof"
for file in text.txt line.txt; do
  expect 0 '12 tokens' prove_of --prompt "The old man" --expect $file --out text.h5
  expect_same "$(payload_digest text.h5)" "$made" "$file"
done

# what the model would not say
rm -f none.h5
expect_error 2 '^tessera: ids.txt: expected what the model generates, found token 1 of .*; the file was taken for a text: --expect-ids takes one of ids$' \
  prove_of --prompt "The old man" --expect ids.txt --out none.h5
expect_error 2 '^tessera: text.txt: expected token ids separated by commas, found ' prove_of --prompt "The old man" --expect-ids text.txt --out none.h5
awk -F, -v OFS=, '{ $7 = ($7 == 9 ? 8 : 9); print }' ids.txt >other.txt
for n in 1 2; do
  expect_error 2 "^tessera: other.txt: expected what the model generates, found token 7 of 12 to be 9 \(\".*\"\), where the model chooses $(cut -d, -f7 ids.txt) \(\".*\"\)$" \
    ranks $n tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old man" --expect-ids other.txt --out none.h5
done
cut -d, -f1-11 ids.txt >eleven.txt && sed 's/$/,9/' eleven.txt >last.txt
[ "$(cut -d, -f12 ids.txt)" != 9 ] || fail "the last token is 9 anyway"
expect_error 2 '^tessera: last.txt: expected what the model generates, found token 12 of 12' \
  prove_of --prompt "The old man" --expect-ids last.txt --out none.h5
printf '1,2,99999' >outside.txt && : >empty.txt && printf '1,,2' >comma.txt
expect_error 2 '^tessera: outside.txt: expected ids below [0-9]+, found 99999' prove_of --prompt "The" --expect-ids outside.txt --out none.h5
expect_error 2 '^tessera: empty.txt: expected 1 to 4096 tokens, found 0' prove_of --prompt "The" --expect empty.txt --out none.h5
expect_error 2 '^tessera: empty.txt: expected 1 to 4096 tokens, found 0' prove_of --prompt "The" --expect-ids empty.txt --out none.h5
expect_error 2 '^tessera: comma.txt: expected token ids separated by commas, found "1,,2"' prove_of --prompt "The" --expect-ids comma.txt --out none.h5
expect_error 2 '^tessera: absent.txt: expected a readable text file, found none' prove_of --prompt "The" --expect absent.txt --out none.h5
expect 2 'Exactly 1 option from .--generate,--expect,--expect-ids. is required' prove_of --prompt "The" --expect ids.txt --generate 3 --out none.h5
expect 2 'Exactly 1 option from .--generate,--expect,--expect-ids. is required' prove_of --prompt "The" --out none.h5
[ ! -e none.h5 ] || fail "a proof of what the model does not say"
finish
