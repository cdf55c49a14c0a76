#!/usr/bin/env bash
# Sampled texts: one for parameters and seed, on any number of ranks, in parts; what verifiers say of them and expect.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key
seed=$(printf '%064d' 7)
other=$(printf '%064d' 8)
rules=(--temperature 3 --top-k 40 --top-p 0.95 --min-p 0.01)
text="temperature=3,top_k=40,top_p=0.95,min_p=0.01"
ids=(--tokens 17,42,5,99)

# prove RANKS OPTIONS...
prove() { ranks "$1" tessera prove --quiet --model model.h5 --commitment commitment "${@:2}"; }
check() { verify --key $key "$@"; }
ids_of() { tessera inspect --json "$1" | python3 -c 'import json, sys; print(*json.load(sys.stdin)["generated"], sep=",")'; }

expect 0 "^sampled: $text, seed $seed$" prove 1 "${ids[@]}" --generate 9 "${rules[@]}" --seed $seed --out one.h5
expect 0 '^ACCEPTED' check one.h5
expect 0 "^sampled \\($text\\), seed $seed chosen by the statement: " check one.h5
expect 0 "^ACCEPTED one.h5, 4 \\+ 9 tokens, .*, sampled \\($text\\), seed $seed chosen by the statement" check --each one.h5
expect 0 "^sampled +$text, seed $seed" tessera inspect one.h5
expect 0 "Tokens are drawn from the model.*\\($text\\)" bash -c "'$programs/tessera' report one.h5 --key $key --out page.html && cat page.html"
check --json one.h5 >answer.json
python3 - "$text" "$seed" <<'EOF' || fail "JSON of a sampled proof"
import json, subprocess, sys
sampling = json.load(open("answer.json"))["proofs"][0]["sampling"]
assert sampling == {"text": sys.argv[1], "temperature": 3, "top_k": 40, "top_p": 0.95, "min_p": 0.01,
                    "seed": sys.argv[2], "seed_expected": False, "parameters_expected": False}, sampling
EOF

# the same text and bytes for any number of ranks, and from generate
for ranks in 2 3; do
  expect 0 'proof of' prove $ranks "${ids[@]}" --generate 9 "${rules[@]}" --seed $seed --out ranks$ranks.h5
  expect_same "$(payload_digest ranks$ranks.h5)" "$(payload_digest one.h5)"
done
ranks 2 tessera generate --quiet --model model.h5 "${ids[@]}" --generate 9 "${rules[@]}" --seed $seed --ids text.ids >/dev/null || fail "generate"
expect_same "$(<text.ids)" "$(ids_of one.h5)"
expect 0 'proof of' prove 2 "${ids[@]}" --expect-ids text.ids "${rules[@]}" --seed $seed --out expected.h5
expect_same "$(payload_digest expected.h5)" "$(payload_digest one.h5)"
expect 2 'text.ids: ' prove 1 "${ids[@]}" --expect-ids text.ids "${rules[@]}" --seed $other --out bad.h5

# parts
expect 0 'proof of' prove 1 "${ids[@]}" --generate 4 "${rules[@]}" --seed $seed --keep state --out first.h5
expect 0 'proof of' prove 2 --continue state --generate 5 "${rules[@]}" --seed $seed --out second.h5
expect_same "$(ids_of first.h5),$(ids_of second.h5)" "$(ids_of one.h5)"
expect 0 '^ACCEPTED' check --expect-seed $seed --expect-sampling "$text" first.h5 second.h5

# what is expected
expect 0 "^sampled \\($text\\), seed $seed, the expected one; parameters chosen by the statement: " check --expect-seed $seed one.h5
expect 0 "^sampled \\($text\\), seed $seed, both as expected$" check --expect-seed $seed --expect-sampling "$text" one.h5
expect_error 2 "top_k: expected once, found twice" check --expect-sampling "temperature=0.7,top_k=4,top_k=5" one.h5
expect 1 "REJECTED at /statement: the seed is not the expected one: expected $other, found $seed" check --expect-seed $other one.h5
for wrong in temperature=3,top_k=40,top_p=0.95 temperature=3.1,top_k=40,top_p=0.95,min_p=0.01 temperature=3,top_k=41,top_p=0.95,min_p=0.01 \
  temperature=3,top_k=40,top_p=0.94,min_p=0.01 temperature=3,top_k=40,top_p=0.95,min_p=0.02 temperature=0; do
  expect 1 "REJECTED at /statement: tokens are not drawn as expected: .*found $text" check --expect-sampling $wrong one.h5
done
expect 1 'found the arg-max' check --expect-sampling "$text" proof.h5
expect 1 'found none: tokens are the arg-max' check --expect-seed $seed proof.h5
expect 0 '^ACCEPTED' check --expect-sampling temperature=0 proof.h5
expect 2 'expect-sampling' check --expect-sampling temperature=x one.h5
expect 2 'expect-sampling' check --expect-sampling top_k=3 one.h5

# a seed of both
opening=$(printf '%064d' 5)
commitment=$(python3 -c 'import hashlib, sys; print(hashlib.blake2s(bytes.fromhex(sys.argv[1])).hexdigest())' $opening)
joint=$(python3 -c 'import hashlib, sys; print(hashlib.blake2s(b"tessera seed" + bytes.fromhex(sys.argv[1]) + bytes.fromhex(sys.argv[2])).hexdigest())' $opening $seed)
expect 0 "seed $joint" prove 1 "${ids[@]}" --generate 3 --temperature 3 --seed $seed --seed-opening $opening --out joint.h5
expect 0 "seed $joint, the expected one" check --expect-seed $seed --seed-commitment $commitment --seed-opening $opening joint.h5
expect 1 "REJECTED at /statement: the seed's opening is not what its commitment is to" check --expect-seed $seed --seed-commitment $commitment --seed-opening $other joint.h5
expect 1 'the seed is not the expected one' check --expect-seed $other --seed-commitment $commitment --seed-opening $opening joint.h5
expect 2 'seed-opening' check --expect-seed $seed --seed-commitment $commitment joint.h5

# a seed that is drawn is another one each time, and printed
expect 0 '^seed [0-9a-f]{64}$' prove 1 "${ids[@]}" --generate 3 --temperature 3 --out drawn.h5
drawn=$(sed -n 's/^seed //p' output)
expect 0 '^ACCEPTED' check --expect-seed "$drawn" drawn.h5
expect 0 '^seed [0-9a-f]{64}$' prove 2 "${ids[@]}" --generate 3 --temperature 3 --out drawn.h5
[ "$drawn" != "$(sed -n 's/^seed //p' output)" ] || fail "two jobs drew the same seed"
expect_error 2 'seed: expected one with --temperature' prove 1 "${ids[@]}" --generate 3 --temperature 3 --scratch traces --out bad.h5

# a trace is that of one way to draw
expect 0 'proof of' prove 2 "${ids[@]}" --generate 9 "${rules[@]}" --seed $seed --scratch traces --out again.h5
expect 0 'proof of' prove 2 "${ids[@]}" --generate 9 "${rules[@]}" --seed $seed --scratch traces --out again.h5
expect_same "$(payload_digest again.h5)" "$(payload_digest one.h5)"
expect 0 'proof of' prove 2 "${ids[@]}" --generate 9 "${rules[@]}" --seed $other --scratch traces --out again.h5
expect 0 '^ACCEPTED' check --expect-seed $other again.h5
expect 0 'proof of' prove 2 "${ids[@]}" --generate 9 --scratch traces --out again.h5

# temperature 0 is greedy, byte for byte
expect 0 'proof of' prove 1 "${ids[@]}" --generate 9 --out greedy.h5
expect 0 'proof of' prove 1 "${ids[@]}" --generate 9 --temperature 0 --top-k 5 --seed $seed --out cold.h5
expect_same "$(payload_digest cold.h5)" "$(payload_digest greedy.h5)"
expect_same "$(payload_digest again.h5)" "$(payload_digest greedy.h5)"

# what cannot be
expect_error 2 'temperature: expected 0.03125 to 16, found 0.01' prove 1 "${ids[@]}" --generate 3 --temperature 0.01 --out bad.h5
expect_error 2 'top_k: expected at most the vocabulary.s 300, found 301' prove 1 "${ids[@]}" --generate 3 --temperature 1 --top-k 301 --out bad.h5
for option in '--temperature -1' '--temperature 1 --top-k 0' '--temperature 1 --top-p 0' '--temperature 1 --min-p 2' '--top-k 5' \
  '--seed 00' '--temperature 1 --seed 00'; do
  expect 2 'tessera' prove 1 "${ids[@]}" --generate 3 $option --out bad.h5
done
expect_absent bad.h5
tessera commit --quiet --model model.h5 --hiding --proofs 2 --out hidden >/dev/null || fail "commit --hiding"
expect 2 'sampling: top_k: expected none, because the key is hiding and candidates are shown in clear, found 5' \
  tessera prove --quiet --model model.h5 --commitment hidden "${ids[@]}" --generate 3 --temperature 1 --top-k 5 --out bad.h5
expect_absent bad.h5

# from the whole vocabulary: on any number of ranks, in parts, and under a hiding key, whose proofs show as little as ever
dense=(--temperature 3 --min-p 0.01 --seed $seed)
all="temperature=3,min_p=0.01"
for ranks in 1 2 3; do
  expect 0 "^sampled: $all, seed $seed$" prove $ranks "${ids[@]}" --generate 9 "${dense[@]}" --out dense$ranks.h5
  expect_same "$(payload_digest dense$ranks.h5)" "$(payload_digest dense1.h5)"
done
expect 0 "^sampled \\($all\\), seed $seed, both as expected$" check --expect-seed $seed --expect-sampling "$all" dense1.h5
expect 1 'expected temperature=3,top_k=300,min_p=0.01, found temperature=3,min_p=0.01' check --expect-sampling "$all,top_k=300" dense1.h5
expect 1 "found $all" check --expect-sampling temperature=3 dense1.h5
expect 1 "found $text" check --expect-sampling "$all" one.h5
ranks 2 tessera generate --quiet --model model.h5 "${ids[@]}" --generate 9 "${dense[@]}" --ids dense.ids >/dev/null || fail "generate"
expect_same "$(<dense.ids)" "$(ids_of dense1.h5)"
expect 0 'proof of' prove 1 "${ids[@]}" --generate 4 "${dense[@]}" --keep dense.state --out dense4.h5
expect 0 'proof of' prove 2 --continue dense.state --generate 5 "${dense[@]}" --out dense5.h5
expect_same "$(ids_of dense4.h5),$(ids_of dense5.h5)" "$(ids_of dense1.h5)"
expect 0 '^ACCEPTED' check --expect-seed $seed --expect-sampling "$all" dense4.h5 dense5.h5
expect 0 "^sampled: $all, seed $seed$" tessera prove --quiet --model model.h5 --commitment hidden "${ids[@]}" --generate 9 "${dense[@]}" --out hidden.h5
expect_same "$(ids_of hidden.h5)" "$(ids_of dense1.h5)"
expect 0 "^sampled \\($all\\), seed $seed, both as expected$" \
  verify --key hidden/verifying.key --expect-seed $seed --expect-sampling "$all" hidden.h5
expect 2 'tessera' prove 1 "${ids[@]}" --generate 3 --temperature 1 --top-p 0.9 --out bad.h5
expect 0 'bytes|MiB' tessera plan --key hidden/verifying.key --tokens 4+9 --temperature 3

# describe and plan know its length
expect 0 '^tokens' tessera describe --key $key --prompt-length 4 --generate 9 --temperature 3 --top-k 40
most=$(sed -n 's/^most bytes of a proof *//p' output)
payload=$(tessera inspect one.h5 | sed -n 's/^payload *\([0-9]*\) bytes.*/\1/p')
[ "$payload" -le "$most" ] || fail "$payload bytes, at most $most are expected"
expect 0 'bytes|MiB' tessera plan --key $key --tokens 4+9 --temperature 3 --top-k 40

finish
