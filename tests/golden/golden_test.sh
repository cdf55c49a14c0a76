#!/usr/bin/env bash
# The bytes of keys and proofs stay what they are: the stored proofs are accepted, and proving gives them again.
source "$(dirname "$0")/../cli/common.sh"
source "$source/tests/golden/prove.sh"
golden="$source/tests/golden"
rule="bytes of keys and proofs change only with a new format_version (src/plan/key.hpp); \
then run tests/golden/update.sh"
for model in $golden_models; do
  gunzip -c "$golden/$model.key.gz" >$model.golden
done

expect 0 '^ACCEPTED$' verify --key odd-40k.golden "$golden/odd-40k.proof" --expect-prompt "The old man"
expect 0 '^ACCEPTED$' verify --key odd-40k.golden "$golden/odd-40k.proof.part1" "$golden/odd-40k.proof.part2"
expect 0 '^ACCEPTED$' verify --key odd-qwen-60k.golden "$golden/odd-qwen-60k.proof" --expect-prompt "The"
[ $failures -eq 0 ] || fail "the stored proofs are not accepted any more: $rule"

for model in $golden_models; do
  digests() { for part in $(golden_parts $model); do payload_digest "$1$part"; done; }
  digest=$(cat "$golden/$model.digest")
  expect_same "$(digests "$golden/$model")" "$digest" "digests of the stored proofs of $model"
  golden_proof "$programs" $model $model.golden $model || fail "proving"
  cmp -s $model.key $model.golden || fail "$model: the key differs from the stored one: $rule"
  expect_same "$(digests $model)" "$digest" "$model: the payloads differ from the stored ones: $rule"
done
finish
