#!/usr/bin/env bash
# Answers without a proof, which a later job proves; ends of the text.
source "$(dirname "$0")/common.sh"
make_files
ids=(--tokens 17,42,5,99)
generate() { tessera generate --quiet --model model.h5 "$@"; }
# ids_of PROOF: those that it generates
ids_of() { tessera inspect --json "$1" | python3 -c 'import json, sys; print(*json.load(sys.stdin)["generated"], sep=",")'; }

generate "${ids[@]}" --generate 30 --ids one.txt >text || fail "generate"
ranks 3 tessera generate --quiet --model model.h5 "${ids[@]}" --generate 30 --ids three.txt >text3 || fail "generate on 3 ranks"
cmp -s one.txt three.txt && cmp -s text text3 || fail "three ranks generate something else"
tessera prove --quiet --model model.h5 --commitment commitment "${ids[@]}" --generate 30 --out whole.h5 >/dev/null || fail "prove"
expect_same "$(ids_of whole.h5)" "$(<one.txt)" "ids of a proof and of generate"
expect 0 '4 \+ 30 tokens' tessera prove --quiet --model model.h5 --commitment commitment "${ids[@]}" --expect-ids one.txt --out later.h5
expect_same "$(payload_digest later.h5)" "$(payload_digest whole.h5)" "a proof of an answer that was given before"
generate --prompt "The old" --generate 5 >text || fail "generate"
grep -q . text || fail "no text"

# a model of the same integers whose end of text is what it chooses as a later token
tessera import --quiet --checkpoint "$source/configs/odd-qwen2-50k" --out base.h5 >/dev/null || fail "import"
tessera generate --quiet --model base.h5 "${ids[@]}" --generate 30 --ids base.txt >/dev/null || fail "generate"
number=$(tr , '\n' <base.txt | awk 'seen[$0]++ == 0 && NR > 2 { print NR; exit }')
last=$(cut -d , -f "$number" base.txt)
cp -r "$source/configs/odd-qwen2-50k" ends && rm ends/tokenizer_config.json
python3 - "$last" <<'EOF'
import json, sys
config = json.load(open("ends/config.json"))
config["eos_token_id"] = int(sys.argv[1])
json.dump(config, open("ends/config.json", "w"))
EOF
tessera import --quiet --checkpoint ends --exponents base.h5 --out ends.h5 >/dev/null || fail "import"
tessera commit --quiet --model ends.h5 --out ends-key >/dev/null || fail "commit"
of_ends() { tessera prove --quiet --model ends.h5 --commitment ends-key "${ids[@]}" "$@"; }
tessera generate --quiet --model ends.h5 "${ids[@]}" --generate 30 --until-end --ids end.txt >/dev/null || fail "generate"
expect_same "$(<end.txt)" "$(cut -d , -f "1-$number" base.txt)" "ids up to the end"
expect 0 "4 \\+ $number tokens" of_ends --generate 30 --until-end --out end.h5
expect_same "$(ids_of end.h5)" "$(<end.txt)" "a proof up to the end"
expect 0 "^complete \\(ended by \".*\", token $last\\): the model says no more$" verify --key ends-key/verifying.key end.h5
expect 0 "^ACCEPTED end.h5, 4 \\+ $number tokens, complete \\(ended by \".*\", token $last\\)" verify --key ends-key/verifying.key --each end.h5
expect 0 "\"ended_by\":? ?\\{\"id\": ?$last," verify --json --key ends-key/verifying.key end.h5
expect 0 '"complete": ?true' verify --json --key ends-key/verifying.key end.h5
of_ends --expect-ids end.txt --out again.h5 >/dev/null || fail "prove --expect-ids"
expect_same "$(payload_digest end.h5)" "$(payload_digest again.h5)" "--until-end and --expect-ids"
expect 0 "4 \\+ $number tokens" ranks 2 tessera prove --quiet --model ends.h5 --commitment ends-key "${ids[@]}" --generate 30 --until-end --out two.h5
expect_same "$(payload_digest end.h5)" "$(payload_digest two.h5)" "--until-end on 2 ranks"
# of many prompts, and in a conversation
printf '17,42,5,99\n17,42,5,99\n' >prompts.txt
expect 0 "000002.h5: proof of .* 4 \\+ $number tokens" tessera prove --quiet --model ends.h5 --commitment ends-key --prompt-ids prompts.txt \
  --generate 30 --until-end --out many
expect 0 "4 \\+ $number tokens" of_ends --generate 30 --until-end --keep state --out part1.h5
expect 0 'tokens' tessera prove --quiet --model ends.h5 --commitment ends-key --continue state --tokens 7,8 --generate 5 --until-end --out part2.h5
expect 0 '^ACCEPTED$' verify --key ends-key/verifying.key part1.h5 part2.h5
# an end that does not come, and one that others stand behind
expect 0 "4 \\+ $((number - 1)) tokens" of_ends --generate $((number - 1)) --until-end --out short.h5
expect 0 "4 \\+ $((number + 1)) tokens" of_ends --generate $((number + 1)) --out long.h5
for proof in short.h5 long.h5; do
  expect 0 '^ACCEPTED$' verify --key ends-key/verifying.key $proof
  grep -q complete output && fail "$proof is no complete text"
  grep -Eq '^cut off at [0-9]+ tokens?: these come first, the model may go on$' output || fail "$proof is cut off"
  expect 0 '"complete": ?false' verify --json --key ends-key/verifying.key $proof
  expect 0 '"ended_by": ?null' verify --json --key ends-key/verifying.key $proof
done

# a second end, of generation_config.json, is in model and key, and comes first
second=$(cut -d , -f 2 base.txt)
echo "{\"eos_token_id\": [$second, $last]}" >ends/generation_config.json
expect 0 'of generation_config.json eos_token_id alone is taken' tessera import --checkpoint ends --exponents ends-key/verifying.key --out two-ends.h5
listed=$(printf '%s\n' "$second" "$last" | sort -n | paste -sd ' ')
expect 0 "^ends +${listed% *} \".*\" ${listed#* } \".*\"$" tessera inspect two-ends.h5
tessera commit --quiet --model two-ends.h5 --out two-key >/dev/null || fail "commit"
expect 0 "^ends +${listed% *} \".*\" ${listed#* } \".*\"$" tessera inspect two-key/verifying.key
tessera generate --quiet --model two-ends.h5 "${ids[@]}" --generate 30 --until-end --ids end2.txt >/dev/null || fail "generate"
expect_same "$(<end2.txt)" "$(cut -d , -f "1-2" base.txt)" "ids up to the second end"
expect 0 "4 \\+ 2 tokens" tessera prove --quiet --model two-ends.h5 --commitment two-key "${ids[@]}" --generate 30 --until-end --out end2.h5
expect 0 "^complete \\(ended by \".*\", token $second\\)" verify --key two-key/verifying.key end2.h5
tessera import --quiet --checkpoint ends --exponents two-key/verifying.key --out three-ends.h5 >/dev/null || fail "import --exponents"
tessera commit --quiet --model three-ends.h5 --out three-key >/dev/null || fail "commit"
cmp -s two-key/verifying.key three-key/verifying.key || fail "an import with a key's choices gives another key"
# what ends in one key need not in another: a commitment takes its own model alone
expect 2 'verifying.key: expected the key of two-ends.h5, found another model' tessera prove --quiet --model two-ends.h5 --commitment ends-key "${ids[@]}" --generate 2 --out none.h5

# bad input
expect_error 2 '--tokens: expected ids below 300, found 300' generate --tokens 300 --generate 2
expect_error 2 '--prompt and --generate: expected at most 48 tokens together, found 49' generate --tokens 1 --generate 48
expect 2 '--until-end requires --generate' of_ends --expect-ids end.txt --until-end --out none.h5
expect_error 2 '^tessera: --ids model.h5: expected another path than that of --model, found the same$' generate --tokens 1 --generate 2 --ids model.h5
cp proof.h5 kept.h5
expect_error 2 '^tessera: --ids kept.h5: expected no file, or a list of token ids, found a proof file$' \
  generate --tokens 1 --generate 2 --ids kept.h5
cmp -s proof.h5 kept.h5 || fail "a proof is overwritten"
expect_absent none.h5
finish
