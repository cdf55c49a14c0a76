#!/usr/bin/env bash
# The bytes of keys and proofs stay what they are: the stored proof is accepted, and proving gives it again.
source "$(dirname "$0")/../cli/common.sh"
source "$source/tests/golden/prove.sh"
golden="$source/tests/golden"
rule="bytes of keys and proofs change only with a new format_version (src/plan/key.hpp); \
then run tests/golden/update.sh"
gunzip -c "$golden/odd-40k.key.gz" >golden.key

expect 0 '^ACCEPTED$' verify --key golden.key "$golden/odd-40k.proof" --expect-prompt "The old man"
expect 0 '^ACCEPTED$' verify --key golden.key "$golden/odd-40k.proof.part1" "$golden/odd-40k.proof.part2"
[ $failures -eq 0 ] || fail "the stored proof is not accepted any more: $rule"
digests() { for part in "" .part1 .part2; do payload_digest "$1$part"; done; }
digest=$(cat "$golden/odd-40k.digest")
expect_same "$(digests "$golden/odd-40k.proof")" "$digest" "digests of the stored proofs"

golden_proof "$programs" golden.key again.h5 || fail "proving"
cmp -s again.h5.key golden.key || fail "the key differs from the stored one: $rule"
expect_same "$(digests again.h5)" "$digest" "the payloads differ from the stored one: $rule"
finish
