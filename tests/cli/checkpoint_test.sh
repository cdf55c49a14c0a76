#!/usr/bin/env bash
# A proving job that is interrupted in any phase continues from its checkpoints, on any number of ranks, to the same bytes.
source "$(dirname "$0")/common.sh"
make_files
phases=(inference commitment lookups layers)
all_files="commitment.checkpoint inference.checkpoint layers.checkpoint lookups.checkpoint"
state1() { prove --keep "$1" --out part1.h5 >/dev/null || fail "part 1"; }
# resumable OPTIONS...: proves; --out and --checkpoint are given
resumable() { tessera prove --model model.h5 --commitment commitment "$@"; }
# stop_at_end DIRECTORY OPTIONS...: leaves the checkpoints of all phases of a job that is killed in the opening
stop_at_end() {
  local directory=$1 try job
  shift
  for try in $(seq 50); do
    "$programs/tessera" prove --quiet --model model.h5 --commitment commitment --out stopped.h5 --checkpoint "$directory" "$@" \
      >/dev/null 2>&1 &
    job=$!
    until [ -e "$directory/layers.checkpoint" ] || ! kill -0 $job 2>/dev/null; do :; done
    kill -KILL $job 2>/dev/null
    wait $job 2>/dev/null
    rm -rf ./*.partial-* stopped.h5
    [ "$(cd "$directory" && echo *)" != "$all_files" ] || return 0
  done
  fail "no job was killed in the opening"
}
same_proof() { expect_same "$(payload_digest "$1")" "$(payload_digest "$2")" "${3:-}"; }

# from each phase, on 1, 2 and 3 ranks
statement=(--prompt "The old" --generate 5)
stop_at_end all "${statement[@]}"
for count in 1 2 3; do
  for last in 0 1 2 3; do
    rm -rf some
    mkdir some
    for phase in "${phases[@]:0:last + 1}"; do cp all/$phase.checkpoint some; done
    expect 0 " ${phases[last]} taken from some$" ranks $count tessera prove --progress plain --model model.h5 \
      --commitment commitment "${statement[@]}" --out resumed.h5 --checkpoint some
    same_proof resumed.h5 proof.h5 "$count ranks after ${phases[last]}"
    expect_same "$(ls some)" "" "checkpoints of a finished job"
    expect 0 '^ACCEPTED$' verify --key commitment/verifying.key resumed.h5
  done
done
# what is finished is not done again: no scope of it
rm -rf some && cp -r all some
expect 0 '' resumable "${statement[@]}" --out resumed.h5 --checkpoint some
tessera inspect resumed.h5 >output
grep -q ' /opening$' output || fail "no times"
grep -Eq ' /(lookup|feed_forward|self_attention)$' output && fail "finished phases are done again"

# damaged: done again
for phase in "${phases[@]}"; do
  for damage in flip cut empty; do
    rm -rf some && cp -r all some
    file=some/$phase.checkpoint
    case $damage in
      flip) flip $file $(($(size_of $file) / 2)) ;;
      cut) truncate -s $(($(size_of $file) - 1)) $file ;;
      empty) : >$file ;;
    esac
    expect 0 "$phase.checkpoint is damaged: $phase is done again" resumable --progress plain "${statement[@]}" \
      --out resumed.h5 --checkpoint some
    same_proof resumed.h5 proof.h5 "$damage $phase"
  done
done

# another statement, another model
for other in "--prompt The+old --generate 6" "--prompt The --generate 5" "--prompt The+old --generate 5 --pass-length 4" \
  "--prompt The+old --generate 5 --keep bad"; do
  read -ra options <<<"$other"
  expect_error 2 'all/inference.checkpoint: expected a checkpoint of this key and statement, found another' \
    resumable --quiet "${options[@]//+/ }" --out bad.h5 --checkpoint all
done
expect 2 'all/inference.checkpoint: expected a checkpoint of this' ranks 2 tessera prove --quiet --model model.h5 \
  --commitment commitment --tokens 1 --generate 5 --out bad.h5 --checkpoint all
expect_absent bad bad.h5
expect_same "$(ls all | wc -l)" 4 "checkpoints of another statement are kept"

# a conversation
state1 state1
expect 0 '' resumable --continue state1 --prompt " an" --generate 3 --keep state2 --out part2.h5
stop_at_end later --continue state1 --prompt " an" --generate 3 --keep again
expect_absent again
expect 0 'layers taken from later' ranks 2 tessera prove --progress plain --model model.h5 --commitment commitment \
  --continue state1 --prompt " an" --generate 3 --keep again --out resumed.h5 --checkpoint later
same_proof resumed.h5 part2.h5
diff -r state2 again || fail "another state"

# how often
mkdir some 2>/dev/null
expect 0 '' resumable "${statement[@]}" --out resumed.h5 --checkpoint some --every 100
stop_after() { # SECONDS MINUTES: what a job leaves that is killed then
  "$programs/tessera" prove --quiet --model model.h5 --commitment commitment --prompt "The old" --generate 43 \
    --out stopped.h5 --checkpoint seldom --every "$2" >/dev/null 2>&1 &
  local job=$!
  sleep "$1"
  kill -KILL $job 2>/dev/null
  wait $job 2>/dev/null
  rm -rf ./*.partial-* stopped.h5
}
for seconds in 0.05 0.1 0.15 0.2 0.3 0.4; do
  stop_after $seconds 100
  expect_same "$(ls seldom 2>/dev/null | grep -v partial)" "" "checkpoints before their time"
done

# wrong usage
expect 2 'every requires --checkpoint' resumable "${statement[@]}" --out bad.h5 --every 1
expect_error 2 '/proc/none: cannot be written' resumable --quiet "${statement[@]}" --out bad.h5 --checkpoint /proc/none
expect_error 2 '--checkpoint model.h5: expected another path than that of --model' resumable --quiet "${statement[@]}" --out bad.h5 --checkpoint model.h5
expect_absent bad.h5
# a full disk costs the checkpoints, not the job
mkdir small
if mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
  trap 'umount -l "$scratch/small"; rm -rf "$scratch" "$sessions"' EXIT
  expect 0 'no checkpoint of commitment: small/.*No space left' resumable --progress plain "${statement[@]}" \
    --out resumed.h5 --checkpoint small
  same_proof resumed.h5 proof.h5
else
  echo "SKIPPED: full disk: needs the right to mount a small tmpfs"
fi

# kill -9 of one of three ranks in every phase
long=(--prompt "The old" --generate 43)
expect 0 '' resumable "${long[@]}" --out long.h5
killed=0
for phase in none "${phases[@]}"; do
  for victim in 1 2 3; do
    rm -rf killed killed-$$.h5
    timeout 100 "$mpirun" -n 3 "$programs/tessera" prove --quiet --model model.h5 --commitment commitment "${long[@]}" \
      --out killed-$$.h5 --checkpoint killed >output 2>&1 </dev/null &
    job=$!
    until [ -e killed/$phase.checkpoint ] || { [ $phase = none ] && [ -d killed ]; } || ! kill -0 $job 2>/dev/null; do :; done
    rank=$(pgrep -f -- "--out killed-$$.h5" | while read -r process; do
      [ "$(cat /proc/$process/comm 2>/dev/null)" = tessera ] && echo "$process"
    done | sed -n ${victim}p)
    [ -z "$rank" ] || kill -KILL "$rank" 2>/dev/null
    wait $job && continue # it had ended
    # a rank may be killed when the proof is there: then it is whole
    [ ! -e killed-$$.h5 ] || { same_proof killed-$$.h5 long.h5 "left by a job killed after $phase"; continue; }
    killed=$((killed + 1))
    expect 0 '' ranks $victim tessera prove --quiet --model model.h5 --commitment commitment "${long[@]}" \
      --out killed-$$.h5 --checkpoint killed
    same_proof killed-$$.h5 long.h5 "killed after $phase"
  done
done
[ $killed -ge 6 ] || fail "only $killed jobs were killed before they had a proof"
finish
