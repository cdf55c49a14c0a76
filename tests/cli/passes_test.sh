#!/usr/bin/env bash
# One proof of several passes, on any number of ranks: the same tokens for any length of a pass.
source "$(dirname "$0")/common.sh"
make_files
key=commitment/verifying.key

# prove RANKS OPTIONS...
prove() { ranks "$1" tessera prove --quiet --model model.h5 --commitment commitment "${@:2}"; }
check() { verify --key $key "$@"; }
ids() { check "$@" | sed -n 's/^\(prompt\|generated\) ([0-9]* tokens)://p' | tr -d '\n'; }

for length in 1 4 16; do
  expect 0 'proof of' prove 1 --tokens 17,42,5,99 --generate 9 --pass-length $length --keep state$length --out pass$length.h5
  expect 0 '^ACCEPTED' check pass$length.h5
  expect 0 "^passes +of $length rows" tessera inspect pass$length.h5
done
expect 0 'proof of' prove 1 --tokens 17,42,5,99 --generate 9 --keep state --out whole.h5
for length in 1 4 16; do
  expect_same "$(ids pass$length.h5)" "$(ids whole.h5)"
  cmp state/keys_values-0.h5 state$length/keys_values-0.h5 || fail "the state depends on the passes"
done

# the same bytes for any number of ranks
for ranks in 2 3 4; do
  expect 0 'proof of' prove $ranks --tokens 17,42,5,99 --generate 9 --pass-length 1 --keep ranks$ranks --out ranks$ranks.h5
  expect_same "$(payload_digest ranks$ranks.h5)" "$(payload_digest pass1.h5)"
done

# parts of a conversation have passes of their own
expect 0 'proof of' prove 1 --continue state4 --tokens 64 --generate 5 --pass-length 1 --keep next --out next.h5
expect 0 'proof of' prove 2 --continue state --tokens 64 --generate 5 --pass-length 1 --keep next2 --out next2.h5
expect_same "$(payload_digest next.h5)" "$(payload_digest next2.h5)"
expect 0 'proof of' prove 2 --continue next --generate 1 --pass-length 128 --out last.h5
expect 0 '^ACCEPTED' check pass4.h5 next.h5 last.h5

# the statement says otherwise than the payload
for length in 0 1 2 8 16 128; do
  craft passes pass4.h5 false.h5 $length
  expect 1 'REJECTED' check false.h5
done
craft passes whole.h5 false.h5 16
expect 1 'REJECTED' check false.h5
for length in 3 129 256 4294967295; do
  craft passes pass4.h5 false.h5 $length
  expect_error 2 "statement/pass_length: expected a power of two from 1 to 128, or nothing, found $length" check false.h5
done

# a job that is done before keeps its trace; another length of a pass is another job
expect 0 'proof of' prove 2 --tokens 17,42,5,99 --generate 9 --pass-length 4 --scratch traces --keep again --out again.h5
expect 0 'proof of' prove 2 --tokens 17,42,5,99 --generate 9 --pass-length 4 --scratch traces --keep again --out again.h5
expect_same "$(payload_digest again.h5)" "$(payload_digest pass4.h5)"
expect 0 'proof of' prove 2 --tokens 17,42,5,99 --generate 9 --pass-length 1 --scratch traces --keep again --out again.h5
expect_same "$(payload_digest again.h5)" "$(payload_digest pass1.h5)"

# no length of a pass
for length in 0 3 129 256 -1 1.5 x 4294967297; do
  expect 2 'pass-length' prove 1 --tokens 17,42 --generate 2 --pass-length $length --out bad.h5
  expect 2 'pass-length' tessera describe --key $key --prompt-length 2 --generate 2 --pass-length $length
done
expect_absent bad.h5

# describe speaks of it
for length in 1 4; do
  expect 0 '^tokens' tessera describe --key $key --prompt-length 4 --generate 9 --keep --pass-length $length
  most=$(sed -n 's/^most bytes of a proof *//p' output)
  payload=$(tessera inspect pass$length.h5 | sed -n 's/^payload *\([0-9]*\) bytes.*/\1/p')
  [ "$payload" -le "$most" ] || fail "$payload bytes, at most $most are expected"
done
finish
