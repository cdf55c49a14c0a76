#!/usr/bin/env bash
# A job that is told to end, by Ctrl-C or by a scheduler, at various moments: all ranks end soon and leave nothing.
source "$(dirname "$0")/common.sh"
make_files
long=(--model model.h5 --commitment commitment --prompt "The old" --generate 43 --keep state --out "bad-$$.h5" --scratch traces)

# the last job's processes may end a little after it
settle() {
  local waited
  for waited in $(seq 20); do
    pgrep -f "bad-$$.h5" >/dev/null || break
    sleep 0.1
  done
}
# ended CODE WHAT: the last job ended with this code, nothing of it is left
ended() {
  expect_same "$code" "$1" "exit code: $2"
  expect_absent "bad-$$.h5" state again
  settle
  pgrep -af "bad-$$.h5" && fail "orphans: $2"
  rm -rf traces "bad-$$.h5" state ./*.partial-*
}
# interrupt SIGNAL SECONDS COMMAND...: true if the proof was not in place yet; code, seconds
interrupt() {
  local begin
  begin=$(date +%s%N)
  # in the foreground: only the program is told, once (mpirun kills at once if it is told again)
  timeout --foreground --signal="$1" --kill-after=20 --preserve-status "$2" env --default-signal "${@:3}" >output 2>&1 </dev/null
  code=$?
  elapsed=$((($(date +%s%N) - begin) / 1000000))
  [ $code -ne 0 ] && [ ! -e "bad-$$.h5" ] || { settle; rm -rf "bad-$$.h5" state traces; return 1; }
  [ $elapsed -le $((10#${2/./} * 100 + 4000)) ] || fail "$1 after $2 s: ended after $elapsed ms"
  [ $code -ne 137 ] || fail "$1 after $2 s: had to be killed"
}

begin=$(date +%s%N)
expect 0 'The old' "$programs/tessera" prove "${long[@]}"
alone=$((($(date +%s%N) - begin) / 100000000)) # tenths of a second
rm -rf "bad-$$.h5" state traces

hits=0
for signal in INT TERM HUP; do
  declare -A codes=([INT]=130 [TERM]=143 [HUP]=129)
  for part in 2 5 8; do
    moment=$((alone * part / 10 + 1))
    interrupt $signal "$((moment / 10)).$((moment % 10))" "$programs/tessera" prove "${long[@]}" || continue
    hits=$((hits + 1))
    ended "${codes[$signal]}" "$signal, alone"
    [ "$(grep -c "^tessera: interrupted by SIG$signal\$" output)" = 1 ] || fail "no line: $(cat output)"
  done
done
[ $hits -ge 5 ] || fail "only $hits single processes were interrupted"

# mpirun is told: it passes SIGTERM on, up to a second later, so the job takes longer
tessera import --quiet --checkpoint "$source/configs/gutenberg-2m" --out larger.h5 >/dev/null || fail "import"
tessera commit --quiet --model larger.h5 --out larger >/dev/null || fail "commit"
longer=(--model larger.h5 --commitment larger --prompt "The old" --generate 240 --pass-length 1 --keep state --out "bad-$$.h5" --scratch traces)
begin=$(date +%s%N)
expect 0 'The old' "$mpirun" -n 3 "$programs/tessera" prove "${longer[@]}"
together=$((($(date +%s%N) - begin) / 100000000))
rm -rf "bad-$$.h5" state traces
hits=0
for signal in INT TERM; do
  for part in 1 2 3 4 6; do
    moment=$((together * part / 10 + 1))
    interrupt $signal "$((moment / 10)).$((moment % 10))" "$mpirun" -n 3 "$programs/tessera" prove "${longer[@]}" || continue
    hits=$((hits + 1))
    ended "$code" "$signal, 3 ranks"
  done
done
[ $hits -ge 3 ] || fail "only $hits jobs were interrupted, of one that takes $together tenths of a second"

# a rank alone is told: the others end with it
for rank in 0 2; do
  cat >victim.sh <<EOF
#!/usr/bin/env bash
[ "\$OMPI_COMM_WORLD_RANK" = $rank ] && echo \$\$ >victim.pid
exec "\$@"
EOF
  chmod +x victim.sh
  rm -f victim.pid
  timeout 60 "$mpirun" -n 3 ./victim.sh "$programs/tessera" prove "${long[@]}" >output 2>&1 &
  job=$!
  while ! compgen -G 'state.partial-*' >/dev/null && kill -0 $job; do sleep 0.02; done
  kill -TERM "$(cat victim.pid)"
  wait $job
  code=$?
  [ $code -ne 0 ] && [ $code -ne 124 ] || fail "rank $rank is told to end: exit code $code"
  ended $code "rank $rank of 3 is told to end"
done

# while files are written
for attempt in $(seq 20); do
  "$programs/tessera" commit --quiet --model model.h5 --out again >output 2>&1 &
  job=$!
  while kill -0 $job 2>/dev/null && ! compgen -G 'again.partial-*/*' >/dev/null; do :; done
  kill -TERM $job 2>/dev/null
  wait $job
  code=$?
  [ $code -eq 0 ] || break
  rm -rf again
done
ended 143 "while a commitment is written"

# what is ignored stays ignored: nohup
trap '' HUP
"$programs/tessera" prove "${long[@]}" >output 2>&1 &
job=$!
while kill -0 $job 2>/dev/null && ! compgen -G 'state.partial-*' >/dev/null; do sleep 0.02; done
kill -HUP $job
wait $job || fail "a hang-up that is ignored ended the job"
finish
