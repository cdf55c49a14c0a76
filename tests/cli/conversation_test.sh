#!/usr/bin/env bash
# A conversation proven part by part: on any number of ranks, with lost, foreign and damaged states.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key

# prove RANKS OPTIONS...
prove() { ranks "$1" tessera prove --quiet --model model.h5 --commitment commitment "${@:2}"; }
check() { verify --key $key "$@"; }

expect 0 'proof of' prove 1 --tokens 17,42,5,99 --generate 4 --keep state1 --out part1.h5
expect 0 'proof of' prove 2 --tokens 17,42,5,99 --generate 4 --keep state1b --out part1b.h5
expect 0 '^positions +7, then token [0-9]+$' tessera inspect state1
expect 0 '^state1/keys_values-0.h5: agrees with its digests' tessera inspect --check state1
expect 0 '"format": "tessera conversation state"' tessera inspect --json state1
expect 0 'proof of' prove 3 --continue state1b --tokens 64,31 --generate 5 --keep state2 --out part2.h5
expect 0 'proof of' prove 1 --continue state1 --tokens 64,31 --generate 5 --keep state2b --out part2b.h5
expect 0 'proof of' prove 2 --continue state2 --generate 3 --out part3.h5 # without a word

# the same bytes for any number of ranks, the states too
expect_same "$(payload_digest part1.h5)" "$(payload_digest part1b.h5)"
expect_same "$(payload_digest part2.h5)" "$(payload_digest part2b.h5)"
for state in 1 2; do
  for file in state$state/*; do
    cmp "$file" "state${state}b/$(basename "$file")" || fail "$file: other bytes on other ranks"
  done
done

# one pass over the same tokens chooses the same tokens
ids() { check "$@" | sed -n 's/^\(prompt\|generated\) ([0-9]* tokens)://p' | tr -d '\n'; }
whole=$(ids part1.h5 part2.h5 part3.h5)
read -ra tokens <<<"$whole"
expect 0 'proof of' prove 1 --tokens "$(IFS=, && echo "${tokens[*]:0:15}")" --generate 3 --out one.h5
expect_same "$(ids one.h5)" "$whole"

expect 0 '^ACCEPTED' check part1.h5
expect 0 '^ACCEPTED' check part1.h5 part2.h5
expect 0 '^ACCEPTED' check part1b.h5 part2.h5 part3.h5
expect 0 '^ACCEPTED' check part1.h5 part2.h5 --expect-ids 17,42,5,99 --expect-ids 64,31
expect 1 'part 2, part2.h5: the prompt is not the expected one' \
  check part1.h5 part2.h5 --expect-ids 17,42,5,99 --expect-ids 64,32
expect 2 'expected one for each of the 3 proofs, or none, found 1' \
  check part1.h5 part2.h5 part3.h5 --expect-ids 17,42,5,99

# parts alone, skipped, repeated, reordered
expect 1 'give all parts in order' check part2.h5
expect 1 'part 2, part3.h5: it continues another state' check part1.h5 part3.h5
expect 1 'part 3, part2.h5: it continues another state' check part1.h5 part2.h5 part2.h5
expect 1 'part 1, part2.h5: .*all parts in order' check part2.h5 part1.h5
expect 1 'part 2, part1.h5: it is the beginning' check part1.h5 part1.h5
expect 1 'part 4, part3.h5: the part before it keeps no state' check part1.h5 part2.h5 part3.h5 part3.h5
expect 0 'proof of' prove 1 --tokens 17,42,5,98 --generate 4 --keep foreign --out foreign1.h5
expect 1 'part 2, part2.h5: it continues another state' check foreign1.h5 part2.h5

# the statement says otherwise than the payload
for what in root length last_token beginning dropped; do
  craft start part2.h5 false.h5 $what
  expect 1 'REJECTED' check part1.h5 false.h5
done

# a job that is done before keeps its trace
expect 0 'proof of' prove 2 --continue state1 --tokens 64,31 --generate 5 --scratch traces --out again.h5
expect 0 'proof of' prove 2 --continue state1 --tokens 64,31 --generate 5 --scratch traces --out again.h5
expect 0 '^ACCEPTED' check part1.h5 again.h5

# damaged, mixed and foreign states: nothing is written
cannot() { expect_error 2 "$1" prove 2 --continue "$2" --tokens 64,31 --generate 5 --out bad.h5 --keep bad; }
cannot 'nowhere/state.h5: expected a file' nowhere
damaged() {
  rm -rf damaged
  cp -r state1 damaged
}
damaged
flip damaged/keys_values-0.h5 $(($(size_of damaged/keys_values-0.h5) - 9))
cannot 'damaged/keys_values-0.h5: ' damaged
damaged
truncate -s 1000 damaged/keys_values-0.h5
cannot 'damaged/keys_values-0.h5: ' damaged
damaged
rm damaged/keys_values-0.h5
cannot 'damaged/keys_values-0.h5: expected a file' damaged
damaged
cp state2/keys_values-0.h5 damaged/
cannot 'damaged/keys_values-0.h5: digest: expected [0-9a-f]* of this state' damaged
cp foreign/state.h5 damaged/state.h5
cannot 'damaged/keys_values-0.h5: digest: expected' damaged
cp proof.h5 damaged/state.h5
cannot 'damaged/state.h5: format: expected tessera conversation state' damaged
craft parameter model.h5 other.h5
tessera commit --quiet --model other.h5 --out other >/dev/null || fail "commit"
expect_error 2 'state1/state.h5: key_digest: expected [0-9a-f]* of this model' \
  "$programs/tessera" prove --quiet --model other.h5 --commitment other --continue state1 --generate 2 --out bad.h5
expect_error 2 'expected at most 48 tokens together, found 57 with the 8 of --continue' \
  prove 1 --continue state1 --tokens 64,31 --generate 47 --out bad.h5
expect_error 2 '--keep [^ ]*: expected another path than that of --continue, found the same' \
  prove 1 --continue state1 --tokens 64,31 --generate 4 --keep state1 --out bad.h5
expect_error 2 'expected at least one token, found none' prove 1 --generate 4 --out bad.h5
expect_absent bad.h5 bad

# several files of a state, shared among any number of ranks
tessera import --quiet --checkpoint "$source/configs/gutenberg-2m" --out model.h5 >/dev/null || fail "import"
rm -rf commitment
tessera commit --quiet --model model.h5 --out commitment >/dev/null || fail "commit"
for ranks in 1 2 4 7; do
  expect 0 'proof of' prove $ranks --tokens 805,309,258,1482 --generate 3 --keep many$ranks --out many$ranks.1.h5
done
for ranks in 2 4 7; do
  for file in many1/*; do
    cmp "$file" "many$ranks/$(basename "$file")" || fail "$file: other bytes on $ranks ranks"
  done
done
expect 0 'proof of' prove 7 --continue many2 --tokens 568 --generate 2 --out many1.2.h5
expect 0 'proof of' prove 2 --continue many7 --tokens 568 --generate 2 --out many2.2.h5
expect_same "$(payload_digest many1.2.h5)" "$(payload_digest many2.2.h5)"
expect 0 '^ACCEPTED' check many4.1.h5 many1.2.h5
mv many1/keys_values-0.h5 many1/swap.h5
mv many1/keys_values-1.h5 many1/keys_values-0.h5
mv many1/swap.h5 many1/keys_values-1.h5
expect_error 2 'many1/keys_values-0.h5: digest: expected [0-9a-f]* of this state' \
  prove 2 --continue many1 --tokens 568 --generate 2 --out bad.h5
expect_absent bad.h5
finish
