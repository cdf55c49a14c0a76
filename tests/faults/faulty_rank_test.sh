#!/usr/bin/env bash
# A rank that computes wrongly, in each phase, once or always: it is named, and what is published is good.
source "$(dirname "$0")/../cli/common.sh"
make_files
digest=$(payload_digest proof.h5)
host=$(hostname)
# faulty RANKS "PHASE RANK once|always [BIT]" MORE...: the usual small proof. Look-ups read of the value that is wrong
# what is above 16 bits; what is below has been copied before.
faulty() {
  TESSERA_FAULT=$2 timeout 200 "$mpirun" -n "$1" "$programs/tests/tessera-faulty" prove --quiet --model model.h5 \
    --commitment "${commitment:-commitment}" --prompt "The old" --generate 5 --out bad.h5 "${@:3}"
}
# good WHAT [LINES]: what was published is the proof of ranks that compute well, and one line warns
good() {
  expect_same "$(payload_digest bad.h5)" "$digest" "$1"
  expect_same "$(grep -c '^tessera: ' output)" "${2:-1}" "lines of $1: $(cat output)"
  rm -f bad.h5
  expect_absent
}
# scope PHASE: where it shows first
scope() {
  case $1 in
    inference) echo /inference ;;
    trace) echo /witness ;;
    commitment) echo /commitment ;;
    lookups) echo '/lookup[a-z/]*' ;;
    layers) echo '/[a-z_/0-9]*' ;;
    opening) echo /opening ;;
  esac
}

expect 0 'The old' faulty 3 "none 0 always"
grep -q warning output && fail "a warning of ranks that compute well"
rank=0
for fault in "inference 3" "inference 11" "trace 3" "commitment 3" "lookups 17" "layers 3" "opening 3"; do
  read -r phase bit <<<"$fault"
  where=$(scope "$phase")
  rank=$(((rank + 1) % 3))
  expect 0 "^tessera: warning: .*: rank $rank on $host computed wrongly, first in $where; the proof was made again, is accepted" \
    faulty 3 "$phase $rank once $bit"
  good "$fault once"
  rank=$(((rank + 1) % 3))
  expect 0 "^tessera: warning: .*: rank $rank on $host computed wrongly, first in $where, and again when .* the proof was made again without it" \
    faulty 3 "$phase $rank always $bit"
  good "$fault always"
done

# other tokens were chosen, and the state that was kept and the files of --scratch and --checkpoint are those of good ranks
state1() { prove --keep "$1" --out "$1.h5" >/dev/null || fail "prove --keep"; }
state1 good
mkdir some
for times in once always; do
  expect 0 "rank 0 on $host computed wrongly" faulty 3 "inference 0 $times 14" --keep kept --checkpoint some --scratch traces
  expect_same "$(grep -c '^faulty: generated' output)" "$([ $times = once ] && echo 2 || echo 3)" "attempts: $(cat output)"
  [ "$(grep '^faulty: generated' output | sort -u | wc -l)" -gt 1 ] || fail "the same tokens: $(cat output)"
  expect_same "$(payload_digest bad.h5)" "$(payload_digest good.h5)"
  expect 0 '^ACCEPTED$' verify --key commitment/verifying.key bad.h5
  diff -r good kept || fail "another state"
  expect_same "$(ls some traces)" "$(printf 'some:\n\ntraces:')" "what a wrong proof leaves"
  rm -rf bad.h5 kept
done

# jobs that go on from what a rank that computed wrongly has left, the checkpoints of one that was killed. Messages of
# look-ups and layers are verified when they are read, and made again.
for phase in inference commitment lookups layers; do
  rm -rf some
  bit=14
  [ $phase != lookups ] || bit=17
  faulty 3 "$phase 1 killed $bit" --checkpoint some >/dev/null 2>&1 && fail "a rank that is killed"
  rm -rf bad.h5 ./*.partial-*
  expect_same "$(ls some | wc -l)" 4 "checkpoints before the opening, $phase"
  case $phase in
    lookups | layers) warning= ;;
    *) warning='warning: .*, which one is not known, or what it took from an earlier job was wrong; the proof was made again' ;;
  esac
  expect 0 "${warning:-The old}" \
    ranks 3 tessera prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 5 --out bad.h5 --checkpoint some
  good "checkpoints of a wrong $phase" $([ -n "$warning" ]; echo $((1 - $?)))
  expect_same "$(ls some)" "" "wrong checkpoints"
done
# the job that goes on has the faulty rank itself: known in what it does from the beginning
left() { # PHASES...: the checkpoints that a job has left
  rm -rf some bad.h5 ./*.partial-*
  faulty 3 "none 1 killed" --checkpoint all >/dev/null 2>&1
  mkdir some
  for phase in "$@"; do mv "all/$phase.checkpoint" some; done
  rm -rf all bad.h5 ./*.partial-*
}
left inference
expect 0 "rank 2 on $host computed wrongly, first in /commitment, or what it took" faulty 3 "commitment 2 once 3" --checkpoint some
good "a faulty rank that goes on from tokens"
left inference commitment
expect 0 "which one is not known, or what it took" faulty 3 "opening 2 once 3" --checkpoint some
good "a faulty rank that goes on from a commitment"

# a compact commitment: opened columns are computed again
tessera commit --quiet --compact --model model.h5 --out compact >/dev/null || fail "commit --compact"
for times in once always; do
  commitment=compact expect 0 "rank 1 on $host computed wrongly, first in /opening" faulty 3 "opening 1 $times 3"
  good "compact, $times"
done

# two ranks: once is known, always is found by trying; one rank has no other to compare with
expect 0 "rank 1 on $host computed wrongly, first in /commitment; the proof was made again, is accepted" \
  faulty 2 "commitment 1 once 3"
good "one of two ranks, once"
for rank in 0 1; do
  expect 0 "rank $rank on $host computed wrongly, .* made again without it" faulty 2 "commitment $rank always 3"
  good "rank $rank of two, always"
done
expect 0 "warning: .*: $host computed wrongly, first in /commitment; the proof was made again" faulty 1 "commitment 0 once 3"
good "alone, once"
expect_error 3 "just made is rejected at /opening: .*; made again, it is the same: .* or $host computes wrongly" faulty 1 "commitment 0 always 3"
expect_absent bad.h5

# hiding: no second proof, nothing is published
tessera commit --quiet --model model.h5 --out hiding --hiding --proofs 16 >/dev/null || fail "commit --hiding"
expect_error 3 'just made is rejected at .*or a rank computes wrongly' env TESSERA_FAULT="layers 1 once 3" timeout 200 "$mpirun" \
  -n 3 "$programs/tests/tessera-faulty" prove --quiet --model model.h5 --commitment hiding --prompt "The old" --generate 5 --out bad.h5
expect_absent bad.h5
finish
