#!/usr/bin/env bash
# Values that leave their range: clamped, listed, told by whoever verifies, and limited by key and verifier.
source "$(dirname "$0")/common.sh"
tessera import --quiet --checkpoint "$odd" --out model.h5 >/dev/null || fail "import"

# a model whose ranges are too small for its values, but not for all of them
for change in "u2 1" "mlp 1" "v 1" "q 1" "uf 1" "k 1" "u2 2" "mlp 2"; do
  craft exponent model.h5 narrow.h5 $change
  rm -rf narrow && tessera commit --quiet --model narrow.h5 --out narrow >/dev/null 2>&1 || continue
  tessera prove --quiet --model narrow.h5 --commitment narrow --prompt "The old man" --generate 5 --out proof.h5 >/dev/null 2>&1 || continue
  verify --key narrow/verifying.key proof.h5 >output && grep -q 'values clamped: ' output && break
done
grep -Eq '^[0-9]+ values clamped: [a-z_0-9/]+ [0-9]+' output || fail "no model with exceptions"
count=$(sed -n 's/^\([0-9]*\) values clamped: .*/\1/p' output)

expect 0 '^ACCEPTED$' verify --key narrow/verifying.key --max-exceptions "$count" proof.h5
expect 1 "^REJECTED at /exceptions: $count values clamped: .*, more than the $((count - 1)) of --max-exceptions" \
  verify --key narrow/verifying.key --max-exceptions $((count - 1)) proof.h5
expect 0 "^ACCEPTED proof.h5, .* tokens, $count values clamped: " verify --key narrow/verifying.key --each proof.h5
expect 1 '^REJECTED proof.h5, .*, at /exceptions: ' verify --key narrow/verifying.key --max-exceptions 0 --each proof.h5
verify --key narrow/verifying.key --json proof.h5 >proof.json
expect 0 "^$count True\$" python3 -c '
import json
clamped = json.load(open("proof.json"))["proofs"][0]["clamped"]
print(clamped["values"], sum(clamped["tensors"].values()) == clamped["values"])'
expect 0 'exceptions +up to 4096 values' tessera inspect narrow/verifying.key
expect 0 '1 accepted' tessera report --key narrow/verifying.key --out report.html proof.h5
grep -q 'Beyond the range that calibration had found, and clamped: ' report.html || fail "the page does not say it"

# the same bytes on several ranks, from a trace that was stored, and in a conversation
prove() { "${@:2}" tessera prove --quiet --model narrow.h5 --commitment narrow --prompt "The old man" --generate 5 --out "$1"; }
digest=$(payload_digest proof.h5)
for count_of_ranks in 2 3; do
  ranks $count_of_ranks tessera prove --quiet --model narrow.h5 --commitment narrow --prompt "The old man" --generate 5 \
    --scratch traces$count_of_ranks --out ranks.h5 >/dev/null || fail "ranks"
  expect_same "$(payload_digest ranks.h5)" "$digest" "payload of $count_of_ranks ranks"
  ranks $count_of_ranks tessera prove --quiet --model narrow.h5 --commitment narrow --prompt "The old man" --generate 5 \
    --scratch traces$count_of_ranks --out again.h5 >/dev/null || fail "stored trace"
  expect_same "$(payload_digest again.h5)" "$digest" "payload of a stored trace"
done
tessera prove --quiet --model narrow.h5 --commitment narrow --prompt "The old" --generate 3 --keep state --out part1.h5 >/dev/null || fail "part 1"
tessera prove --quiet --model narrow.h5 --commitment narrow --continue state --prompt " man" --generate 3 --out part2.h5 >/dev/null || fail "part 2"
expect 0 '^ACCEPTED$' verify --key narrow/verifying.key part1.h5 part2.h5

# limits of keys
expect 0 'key digest' tessera commit --quiet --exceptions 0 --model narrow.h5 --out none
expect_error 3 'outside \[-?[0-9]+, [0-9]+\] of the quantized model$' \
  tessera prove --quiet --model narrow.h5 --commitment none --prompt "The old man" --generate 5 --out bad.h5
expect 0 'key digest' tessera commit --quiet --exceptions 1 --model narrow.h5 --out few
[ "$count" -le 1 ] || expect_error 3 "^tessera: values beyond their ranges: expected at most 1 \\(the key's limit of exceptions\\), found [0-9]+: " \
  tessera prove --quiet --model narrow.h5 --commitment few --prompt "The old man" --generate 5 --out bad.h5
expect 2 'exceptions' tessera commit --exceptions 65537 --model narrow.h5 --out bad
expect_absent bad bad.h5

# hiding keys: none, unless the issuer wants some
expect 0 'key digest' tessera commit --quiet --hiding --proofs 3 --model narrow.h5 --out hidden
expect_error 3 'a value is outside its range; which one is not said' \
  tessera prove --quiet --model narrow.h5 --commitment hidden --prompt "The old man" --generate 5 --out bad.h5
expect 0 'key digest' tessera commit --quiet --hiding --proofs 3 --exceptions 4096 --model narrow.h5 --out shown
expect 0 'a proof shows where up to 4096 activations left their range' tessera inspect shown/verifying.key
expect 0 'The old' tessera prove --quiet --model narrow.h5 --commitment shown --prompt "The old man" --generate 5 --out shown.h5
expect 0 "^$count values clamped: " verify --key shown/verifying.key shown.h5
finish
